// Package identity answers one question, for everybody who asks it: what is the same? Given rows of
// the ERP, the records of their kind that are like them or have their key, and what stands under
// the keys of these records now, [Judge] says of each row that it may go, or why not and because of
// which record. It is pure: no storage, no clock. Its rules:
//
// Key. A record belongs to the row under its key, whichever job of the identity space has it. No
// other row goes under that key unless a person ordered it. A record that a person gave to another
// row, or whose row the ledger does not have, keeps its key against rows of the same document only.
//
// Content. Two contents are alike by their cells, by their payload, or if at most one identifying field
// differs, the strongest first ([trade.Prints]). A record has the content that was sent, the newest one
// of its row, what was sent as it would be sent today, and what rows hold that may be its own
// ([trade.Sighting]); each counts, the last as a guess. Newest follows its row as long as [StandingOf] is
// not Replaced or Gone: the caller keeps it so, and sets it when a person says whose record it is.
//
// Re-typed. A record has lost its row when its key is gone, holds another document, or was amended.
// Another row that is like the record is held. How alike it must be depends on the key of the record:
//   - It is gone, or holds another document: any likeness.
//   - Its row was amended: equal cells or payload; also equal identifying fields if two or more fields
//     of what was sent are different under the key now. A key that holds the newest content of the
//     record counts as amended, compared with what was sent.
//   - Its row is cancelled in the ERP, or a person took it out: all identifying fields.
//
// A row with exactly the cells of a record explains it, even if that row waits, is held, or has the key
// of another record that lost its row. An explained record holds no other row: of n equal rows and m
// records, n-m go. If no row explains a record, all rows that are like it are held.
//
// Held. A row that is held for a record stays so, edited or not, until the record has its own row
// again, another row explains it, the key has another document, or a person said that they are
// different. What the row holds counts as a content of the record, also when its key goes; so does what
// stands under the key with which a record's row has changed places ([Followed]). Decisions are about a
// content and a record, so they bind the row under each key: the caller looks them up by what the row
// holds.
//
// Twins. A row that sends all that another living row has, price too, is its twin; one that has all its
// identifying fields is a near twin. The rules say for each whether it goes with a flag, is held,
// or is not looked at. Of rows that go together the first goes. Further apart in time than the
// rules allow, or declared different, they are two.
//
// Two jobs. A row that has the cells or the payload of a row of another job is reported: the caller
// counts, and pauses the second job before anything goes.
//
// Children. No child goes under a record whose key holds another document, content that was not judged yet, or
// content that was sent as another record; its own row beside that changes nothing ([Misplaced]).
package identity
