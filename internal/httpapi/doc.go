// Package httpapi lets other programs order a run, ask for the status, and read in which state rows
// are, over HTTP: a button in the ERP, a dashboard, a column beside each contract. It is off unless
// the configuration has http_api.
//
// What it guarantees: nothing happens without a token with the required scope. Tokens are compared
// in constant time, are kept as hashes, and never appear in a log line, an error or an answer. The
// rate of each token and of each address is bounded, and so are the connections. The engine gets
// the name of whoever orders a run, and records it in the audit before the run is requested. A job
// that is running, paused, stopped or told to wait is never started; only people end a stop.
//
// api.go has the listener and the routes, limit.go who may ask, and how often, run.go and rows.go the
// operations, openapi.go the document and its page. openapi.json describes
// every answer; a test reads it from the server and compares the answers with it.
package httpapi
