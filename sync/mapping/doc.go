// Package mapping turns a row of the ERP into what the API is asked for: row → draft → checked
// record → request, or the list of what is wrong with it.
//
// It is pure: it opens no database, asks no clock and sends nothing. What it needs from outside
// (the de-para codes, the platform's ids of other rows, today's date) is handed to it. So a run, a
// preview, a test case and a dry run judge a row alike.
//
// The way of a row: [Job] (job.go) names its key (key.go) and its source hash (rowhash.go);
// [Evaluator] (evaluate.go) maps each field (mapping.go, forms.go, parents.go, document.go), has
// the rules of package trade check the draft, and writes the request (request.go). versions.go
// compares two versions of a row.
package mapping
