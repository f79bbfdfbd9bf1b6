// Package histories generates thousands of random histories of an ERP, its configuration, the
// process and the people. It runs each of them with the real engine and judges from outside whether
// the engine recognised what is the same: package sync on ledgers of package state (SQLite, every
// tenth on PostgreSQL, with journals), the real client, and the sandbox over HTTP.
//
// The API has no idempotency key, so only the program knows which row is which. Keys are what an
// ERP makes of them: people insert a line at the front and all numbers shift, restore an old copy,
// delete and type again, or count rows by row_number(). No list of such cases is complete; a
// generator at least does not share the assumptions of the people who wrote the engine.
//
// # What it guarantees
//
// The judge (judge.go) knows only what was in the ERP at which time, what the platform holds, what
// persons ordered, and what the ledger shows:
//
//   - doubled: the platform never has more records of one business content than rows with that
//     content were ever in the ERP at once, plus those that persons ordered in addition. The
//     business content is the fields that the API always requires: another price does not make
//     another contract.
//   - resent: no row is sent twice under a key that it has kept, whatever happened to its content,
//     and whichever job reads it. A key in two spaces (`identity:`) is two keys. A job that changes
//     its space takes along what it has sent, and so does a move to a job of another space.
//   - misplaced: no delivery or traceability record is attached to a contract that was never its
//     own.
//   - lost, stuck, mistaken: at the end, with all faults off, each row in the ERP is accepted, with
//     its content or a flag, or it is shown: it is held, in doubt, invalid, rejected, dismissed, or
//     waiting for something that is itself shown, or its job is stopped with a reason. No two rows
//     share a record.
//   - orphan: after each pass that nothing stopped, no child waits for a contract that was sent.
//   - again: at most one attempt of each generation can have created a record (I3), and each
//     generation after the first names its act.
//   - alarm: the late answer of a process that was taken for dead contradicts only what a person
//     decided without looking.
//   - uneven: every sweep adds up, and the kept sums are those of the entries (I9).
//   - idle: a calm history, in which nobody changes what is known, ends with every row accepted;
//     and a minimum share of all rows is accepted. A program that holds everything does not pass.
//
// # How to use it
//
// `go test -C tools ./histories` runs 100 histories, `make histories HISTORIES=10000` more; `-seed
// N` sets the first seed. A history that fails is shortened while it still fails in the same way,
// and printed step by step with its seed; `-histories 1 -seed N` runs it again.
//
// A step is a line in the table of steps.go: what a person, the process or the platform does.
// world.go is the ERP, run.go runs a history, plan.go generates and shortens histories.
package histories
