// Bench measures the speed of the released program, next to other programs on the same computer at
// the same time.
//
// No figure here is an absolute claim: each is the median of a few repetitions, and what counts is
// its ratio to the yardstick that ran next to it. Bench measures and prints. It fails only if the
// API's log and a ledger do not agree, because no figure is worth anything if a row was lost or
// sent twice.
//
// # What runs
//
// A throwaway PostgreSQL is the ERP and another one holds the ledger. The API is a separate process
// that answers at once or after a set latency, checks nothing, and keeps a log of what arrived and
// which id it assigned (api.go). There are four yardsticks:
//
//   - limit: prebuilt bodies, POSTed by a bare net/http loop with as many connections; no database,
//     no ledger (limit.go)
//   - bento: a stream processor with the same query and the same bodies (module bench/bento)
//   - river: a job queue in PostgreSQL with a worker for each row, as its documentation recommends it
//     (module bench/river); river-each records the id in the transaction of each job
//   - script: the usual fifty lines: select, POST, write the id back, one row after another
//     (script.go)
//
// The two separate modules keep their dependencies out of the program's go.mod; they are built only
// when they are measured.
//
// # Where to read on
//
// main.go is the command line, plan.go what is measured in which order, proc.go how a process is
// measured, judge.go what must agree, table.go what is printed.
package main
