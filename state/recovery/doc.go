// Package recovery compares a ledger with its journals, settles what a crash left between the two,
// and replays journals into a ledger that lacks what they have.
//
// It guarantees that a ledger which was rolled back, emptied or copied is not sent from, and that
// an answer which only the journal has is never lost.
//
// # The journal
//
// A ledger that is opened for writing has a journal (package journal) in the folder
// Options.Journal/<ledger id>. Every transaction with intents, outcomes, or a person's act
// (noteAct, noteJob) flushes one record there before it commits, and keeps that record's number and
// checksum in the table journal: journal first, ledger second, POSTs after both. What opening makes
// of the two:
//
//	in step                            the work goes on
//	one group more in the journal      a process ended between the two: its answers are stored;
//	                                   its intents go again where its notes show that they had not
//	                                   left, else they become in doubt
//	one act more in the journal        the same: it is done, but for a second sending, after which
//	                                   the row stays in doubt
//	a journal begun anew since         CodeRolledBack: an older copy of the ledger; NewJournal
//	                                   refuses to put such a journal aside
//	more in the journal                CodeRolledBack: an older copy of the ledger; Rebuild adds
//	                                   what is missing
//	no ledger                          CodeAbsent, unless Options.Begin: it is begun by `safrasync
//	                                   state new` alone (New)
//	another platform in the journal    the ledger's counts: the journal is told
//	no ledger, or a new one            CodeEmptied, when the journal of one that stood here, or is
//	                                   no longer where it stood, says that rows were sent; Rebuild
//	                                   makes it anew
//	more in the ledger, or no journal  CodeJournalLost; NewJournal, by a person with a reason
//	another host, place, or branch     CodeCopied; NewJournal
//
// A record whose commit was refused is named by the next one (journal.Record.Void), so that only
// the last record can be a crash. Answers that the ledger cannot take are flushed all the same
// (keepAnswers). Several processes of a host share one journal, under its lock; each host has its
// own.
package recovery
