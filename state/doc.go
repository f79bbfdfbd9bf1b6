// Package state is the ledger: what the program knows of each row of the ERP, durable on disk before anything is done about it.
//
// The API can neither be asked what it holds nor told to take something back, so that this is the only memory of what was sent. Two databases are
// behind one type, [Store]: SQLite in a file (the default) and PostgreSQL. Both run the same SQL, the few differences are in dialect.go, and the same tests.
//
// # What it guarantees
//
//   - What a method returned without an error is on disk (I1). SQLite commits with synchronous=FULL in WAL mode; PostgreSQL with fsync, full_page_writes
//     and synchronous_commit on, asked again in each transaction. A database that is set otherwise is refused.
//   - An error means that nothing of the call was stored, except trade.ErrUncertain. A commit whose answer is lost is looked up by the mark that
//     each transaction leaves (tx_mark), and reported as what it was.
//   - Every write is in an explicit transaction, because database/sql repeats a single statement whose connection broke after the server had run it.
//   - A change names the state that it saw: version and state of the entry, outcome of the attempt, epoch of the lease. "Somebody was first" is an answer.
//   - The database refuses what the program must never do, also when somebody tries it by hand: see the triggers in migrations/.
//   - The sums by state are kept in the transaction that moves an entry, exactly (I9).
//
// # The tables
//
// There is one migration for each database, and from here on one for each change of a released schema. Times are milliseconds since 1970 in UTC, booleans 0 and 1,
// structured values JSON text, amounts decimal text, hashes the first 16 bytes of SHA-256.
//
//	entry       one row of the ERP: job and key, state, payload, what it waits for. Never deleted, but reduced (retention.go). Written by discovery (Record), by Commit, Recover, Wake
//	            and WakeBlocked, and by people's acts. closed_by: the act that accepted it without an id. moved_id: the id that
//	            it had before a person gave its record to the row under its new key (Act.Gives). resend_audit_id: the act that opened the generation
//	attempt     one POST of one entry, from its intent on. outcome is null while it is open. Never deleted; its payload never changes, but for '{}' when its
//	            entry is finished and old. Commit, Recover and the retention write it
//	move        the allowed changes of state, the same as trade.Moves; '' is "not in the ledger"
//	tally       kept sums by job, state and unit; on PostgreSQL in parts, one of each instance, whose sum is what counts
//	instance    the processes that may send, and until when each is alive on the database's clock
//	job_lease   who reads and sends a job, and until when on the database's clock; epoch rises with each owner. The first row that a transaction locks
//	job_cursor  how far a job's reading has come, its last sweep, and what its brakes remember; written together with the rows that were read (I4)
//	job_status  where a job stands, with the reason. A pause stays until an act of a person ends it
//	run         what each pass did; no end: it runs, or crashed
//	reference   the de-para tables: kind, code of the ERP, id of the platform
//	lookup      what the platform answered to questions by CPF or CNPJ, under a keyed hash of the number; the number itself is nowhere
//	lookup_key  the key of that hash. It keeps the numbers out of screens, exports and logs; whoever has the whole ledger has the key too
//	block       records that the platform does not know: rows wait for them
//	quarantine  since when each boot knows that nobody knows what an attempt did, on the boot's own clock (I14)
//	audit       acts of people, and late answers that contradict them; never altered or deleted, each with the hash of the one before. Old ones lose their persons
//	audit_head  one row: the last record of the audit. Whoever adds one locks it, after the rows of the act and before the sums
//	ledger      one row: the ledger's id, the version of the references, and what it belongs to: the base address that it has sent to (platform.go), and on PostgreSQL
//	            the server's system identifier and timeline (cluster.go). Who takes a lease holds the row; who changes what it belongs to locks it
//	journal     the journals of this ledger, and the last record of each that it has; written in the transaction that the record tells of
//	alert       what people were told, or are told when it lasts; open until closed_at. One topic and subject is open at most once. Written by SaveAlert
//	alert_message
//	            one message to one address, until it is delivered, superseded or given up; written with the change that it tells of
//	digest      one row: how far the last digest went
//	closing     reports that a person has closed, with the hash of what they said; never altered or deleted
//	closing_part
//	            their rows, in pieces
//	webhook     our registrations on the platform: hashes of their paths and credentials, never these themselves
//	inbox       events as they came, each once by the hash of event and body; next_at says when it is looked at
//	heard       what events told of records of the platform: a status, a change
//	candidate   records of which events told and that no row of ours has, and what a reading of them gave: evidence for doubts
//	zone        since when the ERP's zone is so many seconds ahead of UTC: for the views linhas, tentativas, rows and attempts, which are for people (docs/ledger-sql.md)
//	tx_mark     the last transaction of each line of each open Store, for uncertain commits
//
// # The journal
//
// A ledger that is opened for writing has a journal (package journal) in the folder Options.Journal/<ledger id>. Every transaction with intents, outcomes, or a
// person's act (noteAct, noteJob) flushes one record there before it commits, and keeps that record's number and checksum in the table journal: journal first,
// ledger second, POSTs after both. What opening makes of the two:
//
//	in step                            the work goes on
//	one group more in the journal      a process ended between the two: its answers are stored; its intents go again where its notes show that they had not left, else they
//	                                   become in doubt
//	one act more in the journal        the same: it is done, but for a second sending, after which the row stays in doubt
//	a journal begun anew since         CodeRolledBack: an older copy of the ledger; NewJournal refuses to put such a journal aside
//	more in the journal                CodeRolledBack: an older copy of the ledger; Rebuild adds what is missing
//	no ledger                          CodeAbsent, unless Options.Begin: it is begun by `safrasync state new` alone (New)
//	another platform in the journal    the ledger's counts: the journal is told
//	no ledger, or a new one            CodeEmptied, when the journal of one that stood here, or is no longer where it stood, says that rows were sent; Rebuild makes it anew
//	more in the ledger, or no journal  CodeJournalLost; NewJournal, by a person with a reason
//	another host, place, or branch     CodeCopied; NewJournal
//
// A record whose commit was refused is named by the next one (journal.Record.Void), so that only the last record can be a crash. Answers that the ledger cannot
// take are flushed all the same (keepAnswers). Several processes of a host share one journal, under its lock; each host has its own.
//
// # What is on the wire
//
// On a tmpfs of the host stands a file for each process that sends (package marks, wire.go): which requests have left, and what was answered, without a flush. Recover believes it of a process that
// has ended, under the boot of the kernel that it ran under: of what the process had claimed, the rest goes again, and only what had left without an answer is in doubt (I11).
//
// # Who may write what
//
// Reading and intents need the job's lease, checked in the same transaction (I12). The result of an attempt needs only that the attempt is open or
// unknown: a former owner's definite answer counts. SQLite has one writer at a time; on PostgreSQL a transaction locks the lease, then
// instances, then attempts, then entries by number, then sums, so that two do not wait for each other. The lease is held, not locked (dialect.hold): its renewal waits for nobody, and
// whoever takes it over waits for all that was begun under it.
//
// # Where to read on
//
// state.go opens, tx.go has the transaction and the uncertain commit, commit.go and settle.go the sending, discovery.go the reading, lease.go who
// may, instance.go who lives, recover.go what the dead leave, wire.go what a process that died had on the wire, platform.go and cluster.go what a ledger belongs to, rebind.go how a person says otherwise,
// act.go what people order, late.go what a late answer means after that, audit.go the chain, errors.go what people are told. journal.go compares,
// journal_note.go writes the records, journal_settle.go settles a crash, rebuild*.go replay; copy*.go moves the ledger to another database; backup.go, restore.go and doctor*.go are the commands of these
// names; roll.go goes through all entries of a job for a sweep; webhook.go, inbox.go and hearing.go keep what the platform tells by itself; retention*.go takes away what is old, and lets the journal begin again. The interfaces that the engine uses are its own, in package sync (ports.go).
package state
