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
//     rules in sqldb/schema.go.
//   - The sums by state are exact, and are counted from the entries when somebody asks (I9).
//
// # The files
//
// One type, one package, and for each noun a file, or a few that begin with its name; its tests
// stand beside it. Below it are journal (the file format of the journal), witness (where a witness
// is kept, and how) and sqldb (connections, the two dialects, migrations, the transaction with its
// journal record and its uncertain commit, messages for people when a database fails), which know
// no entry. Its packages books and inbox have what is beside the rows, and cannot change one: Store has
// their methods.
//
//	rows_*        entries. rows_found: what a reading of the ERP found, in one transaction with its
//	              cursor (I4), and what it must know before; rows_swept: what a sweep compares;
//	              rows_listed: what lists are sorted, narrowed and searched by
//	queue         which rows are due, which are woken, which records of the platform block rows
//	records_*     sendings: what is, or may be, on the platform, which row it belongs to, and its last
//	              attempt
//	group         the group commit, on one page: in which order rows are settled, moved and
//	              claimed, and what a crash after each step leaves
//	attempts_*    attempts. attempts_settle and attempts_late: what an answer means;
//	              attempts_recover: what becomes of the attempts of dead processes
//	jobs, leases, instances, runs, quarantine, platform
//	              who may do what, and what was done: leases with their epochs (I12), the instances
//	              that are alive, cursors (I4), since when a doubt is known (I14), and the platform
//	              that the ledger belongs to
//	counts        what is counted when asked, first of all the sums by state (I9)
//	acts          what people order, each with its audit record
//	services      who serves the console, its heartbeat, and when tasks were done last
//	inbox_doubts  what is in doubt, for those who compare it with the platform's events
//	feed          in which order changes became visible, for programs that ask again and again; a
//	              trigger writes it with each change
//	lists_*, pages_*
//	              rows for people; a page is one scan of narrow tables
//	retention_*   removes what is old. It never removes an entry, nor what shows that its content
//	              was sent (I3): it reduces entries
//	witness       compares the ledger with its witness off the machine, and tells that of the journal;
//	              copies: likewise with dated copies of the ledger, and whether one image has ledger
//	              and witness
//	journal_*     compares ledger and journal, and settles what a crash left between them
//	replay_*      brings what journals have into a ledger that lacks it
//	state, backup, restore, copy_*, rebuild_*, rebind, health, doctor_*, job_move
//	              a ledger as a whole, or a job as a whole
//	zone          the zone of the views for people
//
// # The journal
//
// A ledger that is opened for writing has a journal (package journal) in the folder
// Options.Journal/<ledger id>. Every transaction that begins to send rows, settles or decides about
// them, or changes records of the platform, flushes one record there before it commits
// (recordSet.note), and stores that record's number and checksum in the table journal: journal
// first, ledger second, POSTs after both. Opening a ledger compares the two:
//
//	in step                            the work goes on
//	one record more in the journal     a process ended between the two: the record is replayed. Its
//	                                   intents become in doubt, also where a person had ordered a
//	                                   second sending
//	bytes after its last sound record  those of one interrupted write are cut off, if the ledger
//	                                   is in step; others are CodeJournalEnd. Rebuild names them,
//	                                   and pauses every job: nobody knows what they were
//	a journal begun anew since         CodeRolledBack: an older copy of the ledger; NewJournal
//	                                   refuses to set such a journal aside
//	more in the journal                CodeRolledBack: an older copy of the ledger; Rebuild adds
//	                                   what is missing
//	no ledger                          CodeAbsent, unless Options.Begin: only `safrasync state
//	                                   new` (New) creates one
//	moved away, says the journal       CodeMoved: another place has what this ledger, or an older
//	                                   copy of it, would send again
//	another platform in the journal    the ledger's platform is right, and the journal gets it
//	no ledger, or a new one            CodeEmptied, if the journal of a ledger that was here, or
//	                                   is no longer where it was, records that rows were
//	                                   sent; Rebuild restores the ledger
//	less than this host confirmed      CodeRolledBack: a lower term, timeline or write-ahead log of
//	                                   PostgreSQL; all hosts are asked to report, and a person
//	                                   confirms (Rebind)
//	another server, or a promoted one  CodeServer: the hosts report; from a promoted server they go on
//	                                   when all have (journal_sign.go), else a person confirms
//	only answers more in the journal   they are stored, and the work goes on
//	more in the ledger, or no journal  CodeJournalLost; NewJournal, by a person with a reason
//	another host, place, or branch     CodeCopied; NewJournal
//
// # Replay
//
// A crash and a rebuild use the same replay (replay.go, replay_history.go, replay_write.go): over the
// records that a process left, and over the whole journal. Of each row and each record of the
// platform the newest image counts; attempts are joined by their ids, and a certain outcome never
// changes. What the ledger has by its position in the journal is not looked at. For the rest the
// higher version is the newer one. The ledger may have gone on after it was rolled back, or another
// host's journal is replayed later: so what is on the platform, or may be, is never given up for a
// row of which the ledger knows less, and of two sendings that took one generation, each from a ledger
// that lacked the other, both stay, with a record each. Answers without a row (journalAnswers) are settled
// as the ledger settles them.
//
// A record whose commit was refused is named by the next one (journal.Record.Void), so only the
// last record can be a crash. Answers that the ledger cannot store are flushed nevertheless
// (journalAnswers). Several processes of a host share one journal, under its lock; each host has its
// own.
//
// # Who may write what
//
// Storing what was read and storing intents require the job's lease, which is checked in the same
// transaction (I12). Storing the result of an attempt requires only that the attempt is open or
// unknown, so a definite answer from a former owner counts.
//
// SQLite has one writer at a time. On PostgreSQL a transaction locks the lease first, then
// instances, sendings and entries, each in id order, so that two transactions do not deadlock. The
// lease row is locked FOR KEY SHARE (dialect.hold): its renewal waits for nobody, and a takeover
// waits for all transactions that were begun under it.
package state
