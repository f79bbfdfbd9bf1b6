// Package pgtest gives tests a real PostgreSQL that nobody has to set up: one throwaway server per
// test process, started when the first test asks for a database and stopped when the process ends.
//
// The ledger and the ERP reader depend on what a real server does (isolation, lock waits,
// encodings, a cut COMMIT), so a test double would only repeat our own beliefs. What the package
// guarantees:
//
//   - Every [Database] is new and empty, belongs to one test, and is dropped after it. A [Copy] has
//     what its template has, and shares nothing with other copies.
//   - The server keeps fsync and synchronous_commit on, because safrasync refuses a ledger without
//     them.
//   - It listens on loopback only, on a free port outside the ephemeral range, and has no Unix
//     socket.
//   - It dies with the test process, even after kill -9, a panic or go test's time-out; what such a
//     death leaves on disk is removed by the next start.
//   - A missing PostgreSQL is a failure with a hint, never a skipped test.
//
// The package works on Linux, needs PostgreSQL 14 or later, and may be imported by tests and
// tools/bench only (see internal/importrules), which starts its servers with [Start]. A package
// that uses it calls [Main] in its TestMain. Read on in pgtest.go, then cluster.go.
package pgtest
