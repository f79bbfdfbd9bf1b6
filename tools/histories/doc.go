// Package histories writes thousands of random histories of an ERP, its configuration, the process
// and the people, lets the real engine live through each of them, and judges from outside whether
// it knew what is the same: package sync on ledgers of package state (SQLite, every tenth on
// PostgreSQL, journals on), the real client, the sandbox over HTTP.
//
// The API has no idempotency key, so that the program alone knows which row is which. Keys are what
// an ERP makes of them: people type a line in front and all numbers shift, restore an old copy,
// delete and type again, count rows by row_number(). No list of such cases is complete; a generator
// is at least not one of the people who wrote the engine.
//
// # What it guarantees
//
// The judge (judge.go) knows only what stood in the ERP at which time, what the platform
// holds, what persons ordered, and what the ledger shows:
//
//   - doubled: the platform never has more records of one business content than rows ever stood in
//     the ERP with it at once, and persons ordered besides. The business content is the fields that
//     the API always requires: another price makes no other contract.
//   - resent: no row goes twice under a key that it has kept, whatever became of its content, and
//     whichever job reads it. A key in two spaces (`identity:`) is two keys; a job that gets
//     another space takes what it has sent with it, as does a move to a job of another space.
//   - misplaced: no delivery or traceability record hangs on a contract that was never its own.
//   - lost, stuck, mistaken: in the end, with all faults off, each row that stands is accepted,
//     with its content or a flag, or it is shown: held, in doubt, invalid, rejected, dismissed,
//     waiting for what is shown itself, or its job stands still with a reason. No two rows share a
//     record.
//   - orphan: after each pass that nothing stopped, no child waits whose contract has been sent.
//   - again: at most one attempt of each generation may have made a record (I3), and each
//     generation after the first names its act.
//   - alarm: the late answer of a process that was taken for dead contradicts only what a person
//     decided without looking.
//   - uneven: every sweep adds up, and the kept sums are those of the entries (I9).
//   - idle: a calm history, in which nobody touches what is known, ends with every row accepted;
//     and of all rows a share at least is accepted. A program that holds everything does not pass.
//
// # How to use it
//
// `go test -C tools ./histories` runs 100 histories, `make histories HISTORIES=10000` more; `-seed
// N` begins with another one. What fails is shortened as long as it fails in the same way, and
// printed step by step with the seed; `-histories 1 -seed N` runs it again.
//
// A step is a line in the table of steps.go: what a person, the process or the platform does.
// world.go is the ERP, run.go what runs, plan.go draws and shortens histories.
package histories
