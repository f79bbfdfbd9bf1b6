// Package faultlist holds no program code. Its tests read the faults F001 to F168 of
// testdata/faults.md and the invariants I1 to I14 of sync/doc.go: each fault has a test that bears
// its number, in its name, in a comment or in its table, or the page says why there is none; each
// invariant is cited by two tests, in their names or the comments above them.
package faultlist
