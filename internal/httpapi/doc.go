// Package httpapi lets other programs order a run and ask for the status over HTTP: a button in the
// ERP, a dashboard. It is off unless the configuration has http_api.
//
// It guarantees that nothing happens without a token with the scope for it; that tokens are
// compared in constant time, are kept as hashes and never stand in a log line, an error or an
// answer; that a token and an address have a bounded rate, and connections are bounded; and that
// who orders is named to the engine, which records it in the audit before the run is asked for. A
// job that runs, is paused, stopped or told to wait is never started: only people end a stop.
//
// api.go has the routes, token.go who may ask, limit.go how often, run.go and status.go the two
// operations, openapi.go the document and its page, serve.go the listener. openapi.json describes
// every answer; a test reads it from the server and holds the answers against it.
package httpapi
