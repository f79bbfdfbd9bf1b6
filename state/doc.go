// Package state is the ledger: what the program knows of each row of the ERP, durable on disk
// before anything is done about it.
//
// The API can neither be asked what it holds nor told to take something back, so that this is the
// only memory of what was sent. Two databases are behind one type, [Store]: SQLite in a file (the
// default) and PostgreSQL. Both run the same SQL, the few differences are in sqldb/dialect.go, and
// the same tests.
//
// # What it guarantees
//
//   - What a method returned without an error is on disk (I1). SQLite commits with synchronous=FULL
//     in WAL mode; PostgreSQL with fsync, full_page_writes and synchronous_commit on, asked again
//     in each transaction. A database that is set otherwise is refused.
//   - An error means that nothing of the call was stored, except trade.ErrUncertain. A commit whose
//     answer is lost is looked up by the mark that each transaction leaves (tx_mark), and reported
//     as what it was.
//   - Every write is in an explicit transaction, because database/sql repeats a single statement
//     whose connection broke after the server had run it.
//   - A change names the state that it saw: version and state of the entry, outcome of the attempt,
//     epoch of the lease. "Somebody was first" is an answer.
//   - The database refuses what the program must never do, also when somebody tries it by hand: see
//     the triggers in sqldb/migrations/.
//   - The sums by state are kept in the transaction that moves an entry, exactly (I9).
//
// # The packages
//
// A [Store] puts them together; callers see its methods through small interfaces of their own. Each
// imports only those above it in this list:
//
//	journal     the file format of the journal: records, checksums, reading and appending
//	marks       the notes of requests that have left, on a tmpfs
//	sqldb       connections, the two dialects, migrations, the transaction with its journal record
//	            and its uncertain commit, and what people are told when a database fails
//	audit       the chain of acts
//	jobs        leases, instances, cursors, runs, and what the ledger belongs to
//	ledger      entries, attempts and their sums: commit.go is the group commit, on one page
//	discovery   what a reading of the ERP found, and what it asks
//	recovery    compares ledger and journal, settles what a crash left between them, replays;
//	            moves the entries of a job to another name
//	refs        de-para tables and lookups by document
//	readmodel   what people ask: pages of rows, what hangs on what, what is missing, closings
//	people      console users, logins, the service's sign of life
//	inbox       what the platform told by events, and which doubts that may answer
//	alerts      alerts and their messages
//	retention   takes away what is old, and lets the journal begin anew
//
// What concerns a ledger as a whole stands here: opening (state.go), beginning (begin.go), health
// and doctor*.go, backup.go, restore.go, copy*.go to another database, rebuild*.go, rebind.go to an
// address that moved.
//
// # Who may write what
//
// Reading and intents need the job's lease, checked in the same transaction (I12). The result of an
// attempt needs only that the attempt is open or unknown: a former owner's definite answer counts.
// SQLite has one writer at a time; on PostgreSQL a transaction locks the lease, then instances,
// then attempts, then entries by number, then sums, so that two do not wait for each other. The
// lease is held, not locked (dialect.hold): its renewal waits for nobody, and whoever takes it over
// waits for all that was begun under it.
package state
