// Package sqldb is the database of a ledger: SQLite or PostgreSQL. Both use the same SQL; what
// differs is in dialect.go, and for the tables in schema.go.
//
// It guarantees the durability of a transaction (I1). [DB.InTx] runs one, on one page (tx.go):
//
//	BEGIN, and the transaction's mark in tx_mark     a crash: nothing happened
//	the caller's statements                          a crash: nothing happened
//	the record in the journal, flushed (note.go)     a crash: the journal has one record more,
//	                                                 which the next start settles
//	                                                 (state/journal_settle.go)
//	COMMIT                                           its answer lost: the mark is looked up, and
//	                                                 the call reports the result, or
//	                                                 trade.ErrUncertain
//	the journal notes that the ledger has it         a crash: the next start sees that both agree
//
// An error means that nothing was stored, except trade.ErrUncertain. Errors for people are of type
// [Error]; they contain no DSN, no password and no row.
//
// # The tables
//
// There is one migration for both databases, and from here on one for each change of a released
// schema. Times are milliseconds since 1970 in UTC, booleans 0 and 1, structured values JSON text,
// amounts decimal text, hashes the first 16 bytes of SHA-256.
//
//	entry       one row of the ERP: job and key, state, payload, what it waits for. Never deleted,
//	            but reduced (retention). Written by Record, which stores what was read, by Commit,
//	            Recover, Wake and WakeBlocked, and by people's acts. record_id: the record on which
//	            its acceptance rests, also after a person gave it to the row under its new key
//	            (Act.Gives). resend_audit_id: the act that opened the generation
//	listing     what lists are narrowed, sorted and searched by, one for each entry (trade.Listing):
//	            narrow, so that a list is a scan of it
//	sent        one sending, for each entry and generation: what is, or may be, on the platform
//	            (trade.Record), and its last attempt, one POST, from its intent on. It alone has the
//	            platform's id of a record, and decided_by, the act that made it or gave it to its
//	            row. Never deleted. Written by Commit, Recover and people's acts
//	former      the attempts of a sending before its last one; nothing was created by them
//	exchange    what an attempt that has ended sent, and what was answered; deleted when its entry
//	            is finished and old. What an open one sends is the payload of its entry
//	attempt     a view: all attempts
//	instance    the processes that may send, and until when each is alive on the database's clock
//	job_lease   who reads and sends a job, and until when on the database's clock; epoch rises
//	            with each owner. The first row that a transaction locks
//	job_cursor  how far a job has read, its last sweep, and what its brakes remember; written
//	            together with the rows that were read (I4)
//	job_kind, job_moved
//	            the jobs that have entries of a kind, and where those of a renamed job went
//	job_status  the state of a job, with the reason. A pause stays until an act of a person ends
//	            it
//	run         what each pass did; without an end it is running, or crashed
//	reference   the de-para tables: kind, code of the ERP, id of the platform, and the ids that the
//	            code had before; those of a removed code stay, without an id
//	lookup      the platform's answers to queries by CPF or CNPJ, under a keyed hash of the number;
//	            the number itself is not stored. The key, ledger.lookup_key, keeps the numbers out
//	            of screens, exports and logs; whoever has the whole ledger has the key too
//	block       records that the platform does not know: rows wait for them
//	quarantine  for each boot and attempt, since when the attempt is known to be unknown, on the
//	            boot's own clock (I14)
//	audit       acts of people, and late answers that contradict them; never altered or deleted,
//	            each with the hash of the one before. Old ones lose their personal data
//	audit_head  one row: the last record of the audit. Whoever adds one locks it, after the rows
//	            of the act
//	approval    acts that wait for the consent of other people
//	cause_owner who takes care of a cause that keeps rows from going, and until when nobody is
//	            reminded of it
//	person, login
//	            users of the console; who is logged in, known browsers, and what was tried in vain
//	service, task
//	            the processes that serve this ledger, and when each task of the house ran last;
//	            how far the last digest went
//	ledger      one row: the ledger's id, the version of the references, and what it belongs to:
//	            the base address that it has sent to (state/platform.go), and on PostgreSQL the
//	            server's system identifier and timeline (cluster.go). A transaction that takes a
//	            lease holds the row; one that changes what the ledger belongs to locks it
//	journal     the journals of this ledger, and the last record of each that it has; written in
//	            the transaction that the record describes
//	alert       alerts to people, including those shown only if they last; open until closed_at.
//	            One topic and subject is open at most once. Written by SaveAlert
//	alert_message
//	            one message to one address, until it is delivered, superseded or given up; written
//	            with the change that it reports
//	feed, change
//	            the order in which changes of rows became visible; only while a program asks
//	closing     reports that a person has closed, with the hash of their content; never altered
//	            or deleted
//	closing_part
//	            their rows, in pieces
//	webhook     our registrations on the platform: hashes of their paths and credentials, never
//	            these themselves
//	inbox       events as they came, each once by the hash of event and body; next_at is when it
//	            is due for processing
//	heard       what events reported about records of the platform: a status, a change
//	candidate   records that events named and no row of ours has, and what was found when they
//	            were read: evidence for doubts
//	zone        the UTC offsets of the ERP's zone, each with the time from which it applies: for
//	            the views linhas, tentativas, rows and attempts for people (docs/ledger-sql.pt-BR.md)
//	tx_mark     the last transaction of each slot of each open Store, for uncertain commits
package sqldb
