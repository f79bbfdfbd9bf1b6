// Package mapping turns a row of the ERP into a request for the API: row → draft → checked record →
// request, or the list of what is wrong with the row.
//
// It is pure: it opens no database, reads no clock and sends nothing. What it needs from outside
// (the de-para codes, the platform's ids of other rows, today's date) is passed to it. So a run, a
// preview, a test case and a dry run judge a row alike.
//
// The way of a row: [Job] (job.go) has the columns of its key (key.go) and of its source hash
// (row.go); [Evaluator] (evaluate.go) maps each field (mapping.go, forms.go, parents.go,
// document.go), checks the draft by the rules of package trade, and makes the request (fields.go).
// versions.go compares two versions of a row.
package mapping
