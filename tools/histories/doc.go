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
//     business content of a contract is its producer, product, amount and order type: another
//     price, date, unit, issuer, wallet or harvest does not make another contract.
//   - resent: no row is sent twice under a key that it has kept, whatever happened to its content,
//     and whichever job reads it. A key in two spaces (`identity:`) is two keys. A job that changes
//     its space takes along what it has sent, and so does a move to a job of another space.
//   - misplaced: no delivery or traceability record is attached to a contract that was never its
//     own.
//   - lost, stuck, mistaken: at the end, with all faults off, each row in the ERP is accepted, with
//     its content or a flag, or it is shown: it is held for a reason, in doubt, invalid, rejected,
//     dismissed, or waiting for something that is itself shown, or its job is stopped with a reason. No two rows
//     share a record.
//   - orphan: after each pass that nothing stopped, no child waits for a contract that was sent.
//   - again: at most one attempt of each generation can have created a record (I3), and each
//     generation after the first names its act.
//   - alarm: the late answer of a process that was taken for dead contradicts only what a person
//     decided without looking.
//   - uneven: every sweep adds up, and the sums are those of the entries (I9).
//   - sum: the bridge of the report is a plain SUM over the queries of the jobs, in rows and
//     kilograms.
//   - unsaid: a row that went with an id which the de-para has no longer has a flag.
//   - moved: a ledger that was moved to another place sends nothing, also not from an old copy.
//   - idle: a calm history, in which nobody changes what is known, ends with every row accepted;
//     and a minimum share of all rows is accepted. A program that holds everything does not pass.
//
// # How to use it
//
// `go test -C tools ./histories` runs 100 histories, `make histories HISTORIES=10000` more; `-seed
// N` sets the first seed. A history that fails is shortened while it still fails in the same way,
// and printed step by step with its seed; `-histories 1 -seed N` runs it again. `-tell N` limits how
// many are shortened.
//
// A step is a line in the table of steps.go: what a person, the process or the platform does. Some
// things need several steps in their order; each is an act with its scenes, in the table of acts.go,
// which says which acts are on. `-acts NAME` (`make histories ACTS=NAME`) adds one that is off,
// because it shows a fault that is not corrected yet; `-acts only:NAME` plays nothing else, `-acts
// all` plays all.
//
// world.go is the ERP, run.go runs a history, copies.go is what becomes of the ledger, plan.go
// generates and shortens histories.
package histories
