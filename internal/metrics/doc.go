// Package metrics tells monitoring what the daemon does: Prometheus metrics, and whether the
// process lives and is ready.
//
// What stands in the ledger (rows by state, ages, jobs, sizes) is read from it when somebody asks,
// so that it is the ledger's truth and also right after a restart; what happens (runs, requests) is
// counted as it happens, since the start of the process.
//
// It guarantees that labels are closed sets (jobs, states, flags, stop codes, operations, classes
// of answers): never a key, a document, a name or an amount of one row (I10); and that a ledger
// that does not answer makes the rows absent and safrasync_ledger_up 0, never zero rows.
//
// collect.go reads the ledger, count.go and reload.go count, serve.go answers over HTTP.
// docs/operation.md lists the metrics; a test holds it against them.
package metrics
