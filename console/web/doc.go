// Package web is one request to the console and its answer: who asks, in which language, what was
// typed, and the page, the redirection or the fault that goes back.
//
// A Request has passed every check of the guard before a page gets it. A page returns an error,
// which becomes a page with a code and a number that the log has too; nothing of what lies behind
// it reaches the browser. Package web knows no ledger and no engine.
package web
