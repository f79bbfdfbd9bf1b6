// Package console is what accountants and administrators see in a browser: where every row stands,
// why, and what can be done about it.
//
// It is rendered on the server, needs nothing from elsewhere, works without JavaScript and better
// with it. It shows what the ledger has and orders what people decide through the interfaces of
// ports.go; cmd/safrasync gives it the ledger and the engine's acts. It never sends anything
// itself, and is bounded in all that it takes (limits.go), so that it cannot slow the sending down.
//
// # A page
//
// A page is one file with its routes, its handlers and what it shows, one template of the same name
// in templates/, and its words in words_<page>.go. Its routes stand in the table of routes.go,
// which is the only place that says who may do what; a route that is not there does not exist, and
// one without a role nobody may use. A handler gets a request that has passed every check of
// guard.go and gives an error, which becomes a page with a code and a number that the log has too.
//
// # People
//
// Logins stand in the ledger as hashes (login.go), passwords as argon2id (password.go). Changes are
// made by POST only, with the token of the login; html/template and a strict
// Content-Security-Policy keep what the ERP wrote from being more than text.
//
// # Where to read on
//
// console.go puts it together, routes.go and guard.go decide who may, request.go and template.go
// render, words.go and format.go speak, listen.go serves.
package console
