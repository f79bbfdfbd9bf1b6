// Package pages is what people see and order in the console: where every row stands, why, and what
// can be done about it.
//
// A page is one file with its routes, its handlers and what it shows, and one template of the same
// name in console/view. It has the small interfaces that it needs and no others (ports.go);
// cmd/safrasync gives it the ledger and the engine's acts. It never sends anything itself: what
// people order goes through the same code as on the command line, and only as a plan showed it.
package pages
