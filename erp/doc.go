// Package erp reads the cooperative's ERP database. It never writes to it.
//
// The engine makes four kinds of queries: every row of a job's query, or of the window that may
// have changed ([Source.Read]); a few rows again just before they are sent ([Source.ByKeys]); why a
// row is not returned at all ([Source.Explain]); and the de-para tables ([Source.Table]).
//
// What the package guarantees:
//
//   - Read-only, secured three times: the query must be one single query, it runs in a transaction
//     that the database itself keeps read-only, and the session default is read-only too (SQLite:
//     the file is opened read-only). If a database or its driver has no read-only transaction
//     (Firebird, SQL Server), the transaction is rolled back, and the engine documents why nothing
//     is changed.
//   - One snapshot per call. The rows and the bound to save belong together; the database's clock
//     is the only one used.
//   - The bound is never later than the start of the oldest visible open transaction, nor than the
//     database's now(), so that a row that commits late is inside the next window.
//   - Values are exact text. A NUMERIC never becomes a float, a DATE never passes through a time
//     zone.
//   - One bad value does not fail the run: [Value.Err] states what is wrong with it. One bad column
//     or a bad query is an [*Error].
//   - No error text contains a password, a connection string or row data.
//   - No call hangs: see dialect/guard.go for what that requires with lib/pq.
//
// Continue with: source.go (opening), read.go (a read from start to end, and what is saved),
// salvage.go (rows that make a database fail the whole query), explain.go; package dialect (the
// interface of an engine) and the engines in its folders; package sqltext (the SQL tokenizer).
package erp
