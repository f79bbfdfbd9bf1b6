// Package web has one request to the console and its answer: the person, the language, the form,
// and the page, the redirect or the fault that is returned.
//
// A Request has passed every check of the guard before a page gets it. A page returns an error,
// which becomes a page with a code and with a number that the log contains too. The cause of the
// error never reaches the browser. Package web imports neither ledger nor engine.
package web
