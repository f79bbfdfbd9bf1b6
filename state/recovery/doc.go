// Package recovery compares a ledger with its journals, settles what a crash left between the two,
// and replays journals into a ledger that lacks what they have.
//
// It guarantees that nothing is sent from a ledger that was rolled back, emptied or copied, and
// that an answer which only the journal has is never lost.
//
// # The journal
//
// A ledger that is opened for writing has a journal (package journal) in the folder
// Options.Journal/<ledger id>. Every transaction that begins to send rows, settles or decides about
// them, or changes records of the platform, flushes one record there before it commits
// (ledger.Records.Note), and stores that record's number and checksum in the table journal: journal
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
//	                                   confirms (state.Rebind)
//	another server, or a promoted one  CodeServer: the hosts report; from a promoted server they go on
//	                                   when all have (sign.go), else a person confirms
//	only answers more in the journal   they are stored, and the work goes on
//	more in the ledger, or no journal  CodeJournalLost; NewJournal, by a person with a reason
//	another host, place, or branch     CodeCopied; NewJournal
//
// # Replay
//
// A crash and a rebuild use the same replay (history.go, replay.go, replay_write.go): over the
// records that a process left, and over the whole journal. Of each row and each record of the
// platform the newest image counts; attempts are joined by their ids, and a certain outcome never
// changes. What the ledger has by its position in the journal is not looked at. For the rest the
// higher version is the newer one. The ledger may have gone on after it was rolled back, or another
// host's journal is replayed later: so what is on the platform, or may be, is never given up for a
// row of which the ledger knows less, and of two sendings that took one generation, each from a ledger
// that lacked the other, both stay, with a record each. Answers without a row (keepAnswers) are settled
// as the ledger settles them.
//
// A record whose commit was refused is named by the next one (journal.Record.Void), so only the
// last record can be a crash. Answers that the ledger cannot store are flushed nevertheless
// (keepAnswers). Several processes of a host share one journal, under its lock; each host has its
// own.
package recovery
