// Package pages has the console's pages: the state of every row, its reason, and what can be done
// about it.
//
// A page is one file with its routes, handlers and data, and one template of the same name in
// console/view. It uses only the small interfaces that it needs (ports.go); cmd/safrasync
// implements them with the ledger and the engine's acts. It never sends a row itself: people's acts
// run the same code as on the command line, and do no more than the plan that was shown.
package pages
