// Package faultlist holds no program code. Its tests keep account of the faults F001 to F168: what can go wrong between the ERP, the ledger and the platform, in a
// few words, each with the tests that bear its number or the reason why there is none.
//
//   - A test bears a number in its name (TestF001…), in its comment, in a comment or a subtest's name within it, or in a table that it uses. A script
//     (testdata/script) bears it in a comment.
//   - docs/failures.md is the list for people. `make failures` writes it. A number without a test and without a reason fails, and so does a test that the page
//     names and that does not exist or does not bear the number. A new test need not be on the page at once.
//
// The words stand in faults_test.go, the reasons in reasons_test.go. The tests read the source as text (see internal/importrules for why).
package faultlist
