// Package journal is the second memory of what was sent: an append-only file in another folder,
// best on another disk, by which a ledger that was rolled back, deleted or copied is noticed before
// anything is sent, and from which it is rebuilt. It knows nothing of the ledger but what its
// caller writes.
//
// # On disk
//
// A folder holds one journal: segments of 64 MiB named after their first record, a lock, and a
// reserve that is given up when the disk is full. A line is
//
//	<CRC32C of the rest, 8 hex digits> <JSON>\n
//
// and each JSON begins with "seq", counted up by one with each record, and "prev", the CRC of the
// line before: lines cannot be missing, changed, reordered or mixed with those of another journal
// unnoticed. A segment begins with a head: the ids of journal and ledger, the host, the place of
// the ledger, the creation.
//
// # What is promised
//
//   - What Append returned without an error is on disk: one write and one flush for each record; a
//     new segment and its folder are flushed before they are used.
//   - A last line that is torn was never acknowledged, and is cut when the journal is next written.
//     Damage before a sound line is an error that names file and offset (*DamageError); it is never
//     skipped.
//   - Append compares what the ledger says of the journal (its last record there) with the journal
//     itself, under a lock: it writes for the one ledger that the journal follows, and for no copy
//     of it. Records of this process that never came into the ledger are named in the next one
//     (Record.Void).
//
// A journal that has become too large begins again within itself: a segment with what the ledger
// knows by now (Snapshot, Base), after which the segments before it are removed (Cut, Drop).
// Segments that are missing without such a base are damage.
//
// record.go has the records, line.go their text, read.go the reading, append.go the writing,
// create.go new journals and segments, renew.go how one begins again.
package journal
