// Package discovery reads the ERP for one run and records what is news: in a window by the column
// of changes, or as a sweep that compares everything (I5, I9).
//
// The order stands in [Discoverer.Discover]: references, then the rows (page.go collects and
// records them, decide.go says what each one means), then what references and parents changed, then
// what only the platform can tell; the brakes judge what came. The cursor moves in the transaction
// that records the last page (I4): a crash before it reads the same rows again.
package discovery
