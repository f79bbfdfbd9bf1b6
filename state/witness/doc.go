// Package witness keeps, off the machine, how far the journals of a ledger have come. A machine that
// was put back from an image has an older ledger and an older journal that fit each other: nothing
// on it can tell. Its witness can.
//
// # What is written
//
// A witness is a folder on another machine ([OpenFolder]) or a table in a PostgreSQL database
// ([OpenPostgres]). It has one [Line] for each SQLite ledger, and for each host and folder of journals
// of one on PostgreSQL: which journal, the number and the mark of its last record, and when. The mark is
// a checksum over the whole journal up to there, so a line names one history, and no other copy of it.
//
// # When, and why no image is too young
//
// A power cut at record N and an image of record N leave the same disk. What may have happened
// since is the only difference, so only what was written off the machine BEFORE something happened
// can tell the two. Hence this order, for each group of the journal that begins to send:
//
//  1. the journal has the record N+1      flushed
//  2. the ledger has it                   committed
//  3. the witness has N+1                 written, and flushed
//  4. the requests leave
//
// A crash before step 3 leaves a witness that is behind, which is no news: it is never ahead of what
// is on the disk. So neither kill -9 nor a power cut can cause a false stop. An image of a moment
// before step 1 is older than its witness as soon as a single request has left, however young it is.
// Nothing is reserved ahead: a reservation would look the same after a power cut and in an image.
//
// Records that send nothing (answers, decisions of people) are written within a second, and when the
// process ends. A ledger that is moved to another database says so in its journal, and the witness has
// that before the new one is opened: an image of before knows nothing of the move.
//
// # What a slow or lost witness may cost
//
// Requests never wait longer than [patience] for one write. If one takes longer, they leave without it,
// and from then on nobody waits ([State.Slow]) until a write is quicker than that; writes begin at most
// once a second. Meanwhile an image of a moment after the witness's last line is not noticed. If the
// line lacks what it should have because writes fail, or take very long, [State.Since] says since
// when: people are told.
//
// # An image of a machine as it ran
//
// A restored machine goes on in the middle of a process that read its lines long ago. When its clock
// of the day is corrected, that leaps ahead: the lines are then read again before anything is sent, and
// if they cannot be read, nothing is. Before that, it finds what another process wrote only when it
// writes itself.
//
// # Two copies at once
//
// Each write first compares what the witness has with what this process, or another one of this
// host with the same journal, has written. If another copy of the ledger has written a line, nothing
// is written, and the caller is told before its requests leave ([Writer.Conflict]). On PostgreSQL the
// comparison is atomic; in a folder two copies that write within the same milliseconds find each
// other at their next write. A journal that begins again keeps its old records until the witness has a newer line:
// otherwise the next start could not tell whose line it reads.
//
// # At a start
//
// The lines are read first, the ledger second: both only grow, so a line that is ahead of the ledger
// is certain. package state judges them (witness.go there). A person may let a machine go on without
// them: that ends when they are read again, or the machine starts again. An image that was taken in
// between has that permission, too, until the machine starts again.
package witness
