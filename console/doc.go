// Package console is what accountants and administrators see in a browser: where every row stands,
// why, and what can be done about it.
//
// It is rendered on the server, needs nothing from elsewhere, works without JavaScript and better
// with it. It never sends anything itself, and is bounded in all that it takes (limits.go), so that
// it cannot slow the sending down.
//
// # A request
//
// listen.go serves, guard.go is the one place that decides whether a request reaches its page: a
// route that is not listed does not exist, and one without a role nobody may use. A handler gets a
// web.Request that has passed every check and returns an error, which becomes a page with a code
// and a number that the log has too. Changes are made by POST only, with the token of the login; a
// strict Content-Security-Policy keeps what the ERP wrote from being more than text.
//
// # Where to read on
//
// console/pages has a file for each page, console/auth knows who asks, console/web is the request
// and its answer, console/view writes for people. console.go puts them together.
package console
