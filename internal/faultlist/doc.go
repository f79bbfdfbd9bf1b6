// Package faultlist holds no program code. Its test reads the faults F001 to F168 of
// testdata/faults.md and the invariants I1 to I14 of sync/doc.go: each has a test that bears its
// number, in its name, in a comment or in its table, or the page says why there is none.
package faultlist
