// Package discovery reads the ERP for one run and records what is new: in a window by the change
// column, or as a sweep that compares everything (I5, I9).
//
// [Discoverer.Discover] has the order: references, then the rows (page.go collects them,
// decides on each one and records them), then what references and parents changed, then lookups
// on the platform; the brakes judge the result. The cursor moves in the transaction that records
// the last page (I4): after an earlier crash the same rows are read again.
package discovery
