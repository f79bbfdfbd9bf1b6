// Package erp reads the cooperative's ERP database. It never writes to it.
//
// The engine asks four things: every row of a job's query, or of the window
// that may have changed ([Source.Read]); a few rows again just before they are
// sent ([Source.ByKeys]); why a row is not returned at all ([Source.Explain]);
// and the de-para tables ([Source.Table]).
//
// What the package guarantees:
//
//   - Read-only, three times over: the query must be one single query, it runs
//     in a transaction that the database itself holds to be read only, and the
//     session default is read only as well (SQLite: the file is opened so).
//     Where a database or its driver knows no such thing (Firebird, SQL Server),
//     the transaction is rolled back and the engine says why nothing stays.
//   - One snapshot per call. The rows and the bound to save belong together;
//     the database's clock is the only one used.
//   - The bound never passes the oldest transaction that is visible and still
//     open, nor the database's now(), so that a row that commits late stays
//     inside the next window.
//   - Values are exact text. A NUMERIC never becomes a float, a DATE never
//     passes through a time zone.
//   - One bad value is a bad value, not a failed run: [Value.Err] says what is
//     wrong with it. One bad column or a bad query is an [*Error].
//   - No password, no connection string and no row data in an error text.
//   - No call hangs: see dialect/guard.go for what lib/pq needs to keep that promise.
//
// Read on: source.go (opening), read.go (a read from start to end), bound.go
// (what is saved), salvage.go (rows that make a database give up), explain.go;
// package dialect (what an engine must answer) and the engines in its folders;
// package sqltext (the small reader of SQL).
package erp
