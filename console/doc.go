// Package console shows accountants and administrators in a browser the state of every row, its
// reason, and what can be done about it.
//
// It renders on the server, loads nothing from other sites, and works without JavaScript, though
// better with it. It never sends a row itself. All its resources are limited (console.go), so that
// it cannot slow down the sending.
//
// # A request
//
// console.go serves; guard.go is the one place that decides whether a request reaches its page: a
// route that is not listed does not exist, and nobody may use a route without a role unless it is
// open. A handler gets a web.Request that has passed every check. It returns an error, which
// becomes a page with a code and with a number that the log contains too. Changes need a POST with
// the token of the login. A strict Content-Security-Policy and the escaping of templates make texts
// of the ERP appear as text only.
//
// # Where to read on
//
// console/pages has a file for each page, console/auth identifies people, console/web is the
// request and its answer, console/view formats for people. console.go connects them.
package console
