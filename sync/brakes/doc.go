// Package brakes pauses a job before it sends anything, if the result of a reading looks wrong: far
// more new rows than usual, a changed key, a renamed job, more than one run may send, a mapping
// that nobody has confirmed. Only a person can release a brake.
//
// brake.go judges what a reading found, identity.go what a configuration renames. Elsewhere: a sweep
// that finds half of the rows gone (discovery/sweep.go), a ledger that was absent or has a new journal
// (package state).
//
// What a brake lets pass is stored with the cursor, and never judged again.
package brakes
