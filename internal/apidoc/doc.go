// Package apidoc lists the rows of the API's document and records which tests prove them.
//
// The client and the sandbox are two readings of one document. No single test can show whether both
// have read all of it. So each row of the document (a field, an endpoint, a rule, a status, a
// message key, a limit, an event) is listed here once, and must be proved in three [View]s: the
// client against the sandbox over real HTTP, the client alone, the sandbox alone. Where a view
// makes no sense, the row states why.
//
//   - A test claims a row with [Run], which also names a subtest after it, or with [Covers]. The
//     claim must be in a test that fails if the row is wrong. A claim of an unknown row, or of a
//     row that gives a reason to have none, fails the test.
//   - A package passes its TestMain to [Main] with the views that it proves. When all its tests
//     have passed, the claims are compared with the rows: a row without a test fails the package. A
//     run of selected tests (-run, -skip, -fuzz) is not checked.
//
// The package holds only names, chapters and a few words of the document, never its text. Only
// tests may import it, and it imports nothing of ours (see internal/importrules). Read on in
// rows.go, then claim.go and main.go.
package apidoc
