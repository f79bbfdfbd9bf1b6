// Package apidoc lists the rows of the API's document and keeps account of the tests that prove
// them.
//
// The client and the sandbox are two readings of one document. Whether both have read all of it is
// a question that no single test answers: so each row of the document (a field, an endpoint, a
// rule, a status, a message key, a limit, an event) stands here once, and each is wanted in three
// [View]s: the client against the sandbox over real HTTP, the client alone, the sandbox alone.
// Where a view makes no sense, the row says why.
//
//   - A test claims a row with [Run], which also names a subtest after it, or with [Covers]. A
//     claim stands where the test fails if the row is wrong. A claim of a row that does not exist,
//     or of one that gives a reason to have none, fails the test.
//   - A package hands its TestMain to [Main] with the views that it proves. When all its tests have
//     run and passed, the claims are compared with the rows: a row without a test fails the
//     package. A run of chosen tests (-run, -skip, -fuzz) claims too little to be judged and is
//     not.
//
// Only names, chapters and a few words of the document stand here, never its text. The package may
// be imported by tests only and imports nothing of ours (see internal/importrules). Read on in
// rows.go, then claim.go and main.go.
package apidoc
