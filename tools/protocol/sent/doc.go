// Package sent is a model of a ledger in which a sending is one row: a sent for each generation of
// an entry, with the outcome of its attempt, the certainty of its record, and a list of the earlier
// attempts. That an entry is being sent is not stored; it follows from an open sent.
//
// Its tests explore every world that can be reached within small bounds (limits), breadth first. With
// all rules (rules.go) no world has a fault (fault.go). They also show that each rule is needed:
// without it, or without it and a second one, there is a fault, and the shortest way to it is a list
// of sentences.
//
// In the model of one row (world.go), two hosts send it by turns, each with its journal. A claim, an
// act of a person and a change by the engine are two steps, read and commit, and anything may happen
// between. The answer of a commit may be lost. Processes end, stall, come back and store what they
// know. The platform executes requests late, loses answers, refuses without a proof, refuses what it
// has made, and tells of a record later. Somebody types the document by hand. A copy of the ledger is
// restored; either nobody works before the journals are replayed, or the second host does not notice
// and goes on.
//
// Three smaller models stand beside it. In pair.go two rows are one document, in two jobs or in one:
// a claim must notice the record of the other row, what people state, pauses and take-overs, although
// it reads before it commits. In numbers.go a roll-back gives the numbers of a ledger to other rows.
// In locks.go two transactions lock rows of sent and entry, and may wait for each other.
//
// The meaning of an answer, the moves of an entry and the states that a person may decide about are
// those of the program (sync/outcome, trade). A person sees the platform as it is, and so is never
// wrong. Bounds are three attempts and four generations; with a roll-back, as many changes of the
// entry as the limits say. Not in the model are the contents of rows, the payloads beside attempts,
// renamed jobs, brakes, terms of a server, retention, and how many rows are in flight.
package sent
