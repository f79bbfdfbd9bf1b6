// Package pgtest provides tests with a real PostgreSQL that needs no setup: one throwaway server
// per test process, started when the first test asks for a database and stopped when the process
// ends. `make test` lends one server to all packages of its run instead (see [Lend]).
//
// The ledger and the ERP reader depend on the behaviour of a real server (isolation, lock waits,
// encodings, an interrupted COMMIT), so a test double would only repeat our own assumptions. What
// the package guarantees:
//
//   - Every [Database] is new and empty, belongs to one test, and is dropped after it. A [Copy]
//     starts with the contents of its template, and shares nothing with other copies.
//   - The server is as initdb leaves it, but for the few settings in cluster.go.
//   - It listens on loopback only, on a free port outside the ephemeral range, and has no Unix
//     socket.
//   - It ends with the test process, even after kill -9, a panic or go test's time-out; the next
//     start removes what such an end leaves on disk.
//   - A missing PostgreSQL is a failure with a hint, never a skipped test.
//
// The package works on Linux, needs PostgreSQL 14 or later, and may be imported by tests and
// tools/bench only (see internal/importrules), which starts its servers with [Start]. A package
// that uses it calls [Main] in its TestMain. Read on in pgtest.go, then cluster.go.
package pgtest
