// Bench measures how fast the released program is, beside what others do on the same computer in
// the same minutes.
//
// Nothing here is an absolute claim: each figure is the median of a few repetitions, and what
// counts is its ratio to the yardstick that ran next to it. It measures and prints, and fails only
// when what the API has seen and what a ledger says do not agree. No figure is worth anything after
// a row was lost or sent twice.
//
// # What runs
//
// A throwaway PostgreSQL is the ERP and another one holds the ledger; the API is a process of its
// own that answers at once or after a set latency, checks nothing, and keeps a log of what arrived
// and which id it gave (api.go). Beside the program stand four yardsticks:
//
//   - limit: prebuilt bodies, POSTed by a bare net/http loop with as many connections; no database,
//     no ledger (limit.go)
//   - bento: a stream processor with the same query and the same bodies (module bench/bento)
//   - river: a job queue in PostgreSQL with a worker for each row (module bench/river)
//   - script: the usual fifty lines: select, POST, write the id back, one row after another
//     (script.go)
//
// The two modules of their own keep what they need out of the program's go.mod; they are built only
// when they are measured.
//
// # Where to read on
//
// main.go is the command line, plan.go what is measured in which order, proc.go how a process is
// measured, judge.go what must agree, table.go what is printed.
package main
