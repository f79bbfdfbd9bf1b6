// Package sqldb is the database of a ledger: SQLite or PostgreSQL, one text of SQL for both, and
// what differs in dialect.go.
//
// It guarantees the durability of a transaction (I1). [DB.InTx] runs it, on one page (tx.go):
//
//	BEGIN, and the transaction's mark in tx_mark     a crash: nothing happened
//	the caller's statements                          a crash: nothing happened
//	the record in the journal, flushed (note.go)     a crash: the journal has one record more,
//	                                                 which the next start settles (package
//	                                                 recovery)
//	COMMIT                                           its answer lost: the mark is looked up, and
//	                                                 the call reports what it was, or
//	                                                 trade.ErrUncertain
//	the journal is told that the ledger has it       a crash: the next start sees that both agree
//
// An error means that nothing was stored, except trade.ErrUncertain. Errors for people are of type
// [Error]; they hold no DSN, no password and no row.
//
// # The tables
//
// There is one migration for each database, and from here on one for each change of a released
// schema. Times are milliseconds since 1970 in UTC, booleans 0 and 1, structured values JSON text,
// amounts decimal text, hashes the first 16 bytes of SHA-256.
//
//	entry       one row of the ERP: job and key, state, payload, what it waits for. Never deleted,
//	            but reduced (package retention). Written by discovery (Record), by Commit,
//	            Recover, Wake and WakeBlocked, and by people's acts. closed_by: the act that
//	            accepted it without an id. moved_id: the id that
//	            it had before a person gave its record to the row under its new key (Act.Gives).
//	            resend_audit_id: the act that opened the generation
//	attempt     one POST of one entry, from its intent on. outcome is null while it is open. Never
//	            deleted; its payload never changes, but for '{}' when its
//	            entry is finished and old. Commit, Recover and the retention write it
//	move        the allowed changes of state, the same as trade.Moves; '' is "not in the ledger"
//	tally       kept sums by job, state and unit; on PostgreSQL in parts, one of each instance,
//	            whose sum is what counts
//	instance    the processes that may send, and until when each is alive on the database's clock
//	job_lease   who reads and sends a job, and until when on the database's clock; epoch rises
//	            with each owner. The first row that a transaction locks
//	job_cursor  how far a job's reading has come, its last sweep, and what its brakes remember;
//	            written together with the rows that were read (I4)
//	job_status  where a job stands, with the reason. A pause stays until an act of a person ends
//	            it
//	run         what each pass did; no end: it runs, or crashed
//	reference   the de-para tables: kind, code of the ERP, id of the platform
//	lookup      what the platform answered to questions by CPF or CNPJ, under a keyed hash of the
//	            number; the number itself is nowhere
//	lookup_key  the key of that hash. It keeps the numbers out of screens, exports and logs;
//	            whoever has the whole ledger has the key too
//	block       records that the platform does not know: rows wait for them
//	quarantine  since when each boot knows that nobody knows what an attempt did, on the boot's
//	            own clock (I14)
//	audit       acts of people, and late answers that contradict them; never altered or deleted,
//	            each with the hash of the one before. Old ones lose their persons
//	audit_head  one row: the last record of the audit. Whoever adds one locks it, after the rows
//	            of the act and before the sums
//	ledger      one row: the ledger's id, the version of the references, and what it belongs to:
//	            the base address that it has sent to (ledger/platform.go), and on PostgreSQL
//	            the server's system identifier and timeline (cluster.go). Who takes a lease holds
//	            the row; who changes what it belongs to locks it
//	journal     the journals of this ledger, and the last record of each that it has; written in
//	            the transaction that the record tells of
//	alert       what people were told, or are told when it lasts; open until closed_at. One topic
//	            and subject is open at most once. Written by SaveAlert
//	alert_message
//	            one message to one address, until it is delivered, superseded or given up; written
//	            with the change that it tells of
//	digest      one row: how far the last digest went
//	closing     reports that a person has closed, with the hash of what they said; never altered
//	            or deleted
//	closing_part
//	            their rows, in pieces
//	webhook     our registrations on the platform: hashes of their paths and credentials, never
//	            these themselves
//	inbox       events as they came, each once by the hash of event and body; next_at says when it
//	            is looked at
//	heard       what events told of records of the platform: a status, a change
//	candidate   records of which events told and that no row of ours has, and what a reading of
//	            them gave: evidence for doubts
//	zone        since when the ERP's zone is so many seconds ahead of UTC: for the views linhas,
//	            tentativas, rows and attempts, which are for people (docs/ledger-sql.md)
//	tx_mark     the last transaction of each line of each open Store, for uncertain commits
package sqldb
