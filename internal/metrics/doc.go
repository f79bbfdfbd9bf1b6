// Package metrics exposes Prometheus metrics of the daemon, and whether the process is alive and
// ready.
//
// The contents of the ledger (rows by state, ages, jobs, sizes) are read when the metrics are
// requested, so that they match the ledger, even right after a restart. What happens (runs,
// requests) is counted as it happens, since the start of the process.
//
// The package guarantees that labels are closed sets (jobs, states, flags, stop codes, operations,
// classes of answers): never a key, a document, a name or an amount of one row (I10). If the ledger
// does not answer, the rows are absent and safrasync_ledger_up is 0; they are never reported as
// zero.
//
// collect.go reads the ledger; metrics.go counts, and answers over HTTP.
// docs/operation.md lists the metrics; a test compares the list with the code.
package metrics
