// Package faultlist holds no program code. Its tests read the faults F001 to F168 of
// testdata/faults.md and the invariants I1 to I14 of sync/doc.go. Each fault must have a test that
// bears its number, in its name, in a comment or in its table, or the page must state why there is
// none. Each invariant must be cited by two tests, in their names or the comments above them.
package faultlist
