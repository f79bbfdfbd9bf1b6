// Package witness stores, off the machine, how far the journals of a ledger have come. A machine that
// was put back from an image has an older ledger and an older journal that fit each other: nothing on
// it shows that. The line that its witness has is newer, and shows it.
//
// # What is written
//
// A witness is a folder on another machine ([OpenFolder]) or a table in a PostgreSQL database
// ([OpenPostgres]). It has one [Line] for each SQLite ledger, and one for each host and journal folder
// of a ledger on PostgreSQL: the journal, the number and the mark of its last record, and the time. The
// mark is a checksum over the whole journal up to that record, so a line identifies one history, and no
// other copy of it.
//
// # Order of writes
//
// For each group of the journal that begins to send:
//
//  1. the journal has the record N+1      flushed
//  2. the ledger has it                   committed
//  3. the witness has N+1                 written, and flushed
//  4. the requests leave
//
// A crash before step 3 leaves a witness that is behind the disk, which is never refused. So neither
// kill -9 nor a power cut causes a false stop. An image that was taken before step 1 is behind the
// witness as soon as one request has left, however young it is. Numbers are not reserved ahead, because
// a reservation looks the same after a power cut and in an image.
//
// Records that send nothing (answers, decisions of people) are written within a second, and when the
// process ends. A ledger that moves to another database records that in its journal, and the witness
// has the record before the new ledger is opened: an image from before the move is refused.
//
// # A slow or unreachable witness
//
// A request waits at most [patience] for one write. If the write takes longer, the requests leave
// without it, and no later one waits ([State.Slow]) until a write is quick enough again; writes begin
// at most once a second. An image that was taken after the witness's last line is not noticed
// meanwhile. If writes fail, or take very long, [State.Since] has the time since when, for an alert.
//
// # An image of a running machine
//
// A machine that is restored from an image goes on within a process that read its lines long ago. When
// its clock is corrected, the time leaps ahead: the lines are then read again before anything is sent,
// and if they cannot be read, nothing is. Until then it finds another process's line when it writes
// its own.
//
// # Two copies at once
//
// Each write first compares the witness with what this process, or another one of this host with the
// same journal, has written. If another copy of the ledger has written a line, nothing is written, and
// the requests do not leave ([Writer.Conflict]). On PostgreSQL the comparison is atomic; in a folder two
// copies that write within the same milliseconds find each other at their next write. A journal that
// begins again keeps its old records until the witness has a newer line: otherwise the next start could
// not tell whose line it reads.
//
// # At a start
//
// The lines are read before the ledger: both only grow, so a line that is ahead of the ledger proves
// that the ledger is old. Package state judges them (witness.go). A person may let a machine go on
// without its lines, until they are read again or the machine starts again. An image that was taken in
// between has that permission too, until the machine starts again.
package witness
