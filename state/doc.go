// Package state is the ledger: what the program knows of each row of the ERP, durable on disk
// before anything is done about it.
//
// The API can neither list its records nor delete one, so the ledger is the only memory of what was
// sent. One type, [Store], serves two databases: SQLite in a file (the default) and PostgreSQL.
// Both run the same SQL and the same tests; the few differences are in sqldb/dialect.go.
//
// # What it guarantees
//
//   - What a method stored before it returned without an error is on disk (I1). SQLite commits with
//     synchronous=FULL in WAL mode. PostgreSQL commits with fsync, full_page_writes and
//     synchronous_commit on, which each transaction verifies again. A database with other settings
//     is refused.
//   - An error means that nothing of the call was stored, except trade.ErrUncertain. If the answer
//     to a commit is lost, the mark that each transaction leaves (tx_mark) shows whether it was
//     committed, and the method reports that.
//   - Every write is in an explicit transaction, because database/sql repeats a single statement if
//     its connection breaks after the server has run it.
//   - Every change is a compare-and-set: it names the version and state of the entry, the outcome
//     of the attempt, or the epoch of the lease that it is based on. That something has changed
//     since is a normal result, not an error.
//   - The database refuses what the program must never do, even if somebody tries it by hand: see
//     the triggers in sqldb/migrations/.
//   - The sums by state are exact, and are updated in the transaction that moves an entry (I9).
//
// # The packages
//
// A [Store] combines the packages below; callers use its methods through small interfaces of their
// own. Each package imports only packages above it in this list:
//
//	journal     the file format of the journal: records, checksums, reading and appending
//	sqldb       connections, the two dialects, migrations, the transaction with its journal record
//	            and its uncertain commit, and error messages for people when a database fails
//	audit       the chain of acts
//	jobs        leases, instances, cursors, runs, and what the ledger belongs to
//	ledger      entries, attempts and their sums: commit.go is the group commit, on one page
//	discovery   stores what a reading of the ERP found, and answers its queries
//	recovery    compares ledger and journal, settles what a crash left between them, replays;
//	            moves the entries of a job to another name
//	refs        de-para tables and lookups by document
//	readmodel   queries for people: pages of rows, dependencies, what is missing, closings
//	people      console users, logins, the heartbeat of the service
//	inbox       the platform's events, and the doubts that they may resolve
//	alerts      alerts and their messages
//	retention   removes what is old, and begins the journal anew
//
// Functions for a ledger as a whole are in this package: opening (state.go), creating (begin.go),
// health and doctor*.go, backup.go, restore.go, copy*.go (to another database), rebuild*.go, and
// rebind.go (to a changed address or database server).
//
// # Who may write what
//
// Storing what was read and storing intents require the job's lease, which is checked in the same
// transaction (I12). Storing the result of an attempt requires only that the attempt is open or
// unknown, so a definite answer from a former owner counts.
//
// SQLite has one writer at a time. On PostgreSQL a transaction locks the lease first, then
// instances, attempts, entries in id order, and sums, so that two transactions do not deadlock. The
// lease row is locked FOR KEY SHARE (dialect.hold): its renewal waits for nobody, and a takeover
// waits for all transactions that were begun under it.
package state
