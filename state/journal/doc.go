// Package journal is the second memory of what was sent: an append-only file in another folder,
// best on another disk. It shows that a ledger was rolled back, deleted or copied before anything
// is sent, and a ledger can be rebuilt from it. The package knows nothing of the ledger except what
// its caller writes.
//
// # On disk
//
// A folder holds one journal: segments of 64 MiB named after their first record, a lock, and a
// reserve file that is removed when the disk is full. A line is
//
//	<CRC32C of the rest, 8 hex digits> <JSON>\n
//
// Each JSON begins with "seq", which increases by one with each record, and "prev", the CRC of the
// line before. So it is detected if lines are missing, changed, reordered or mixed with those of
// another journal. There are three kinds of records:
//
//	head  begins a segment: the ids of journal and ledger, the host, the place of the ledger, the
//	      time of creation
//	tx    what one transaction of the ledger left: an image of each row that it sent, settled or
//	      decided about, and of each row of the table sent that it wrote, with its attempt; answers
//	      that the ledger could not store; jobs that a person paused; jobs that were moved. Images
//	      have versions: of several of one row, also of several journals, the highest is the newest
//	base  a page of the same images: what the ledger knew when the journal began, also when it began
//	      again
//
// No image has a number of the ledger: a row is named by job and key, what was sent by its row, its
// generation and the id of its attempt.
//
// # What is guaranteed
//
//   - What Append wrote before it returned without an error is on disk: there is one write and one
//     flush for each record, and a new segment and its folder are flushed before they are used.
//   - What an interrupted write has left of one line was never acknowledged, and is cut off when
//     the journal is next written. Damage before a sound line is an error that names file and offset
//     (*DamageError); it is never skipped. Other bytes after the last sound line are one as well
//     (*EndError), until a person who knows of them lets Mend keep them aside.
//   - Append compares the ledger's position in the journal (its last record there) with the journal
//     itself, under a lock: it writes for the one ledger that the journal follows, and for no copy
//     of it. Records of this process that the ledger never stored are named in the next record
//     (Record.Void).
//
// A journal that has become too large begins again within itself: a new segment holds what the
// ledger knows by then (Base), after which the segments before it are removed (Cut, Drop). Segments
// that are missing without such a base are damage.
//
// record.go has the records, line.go their text, read.go the reading, append.go the appending,
// create.go new journals and segments, renew.go how a journal begins again.
package journal
