// Package brakes pauses a job before anything of it leaves, when what a reading found looks wrong:
// far more new rows than usual, a changed key, a renamed job, more than one run may send, a mapping
// that nobody has confirmed. Only a person releases a brake.
//
// What a brake lets pass is remembered in the cursor's memory, and never judged again.
package brakes
