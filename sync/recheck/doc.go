// Package recheck reads rows once more just before their intents are stored (I8), and finds what
// was sent already.
//
// A row that changed is mapped again; one that is gone, doubled or cancelled is held; one whose
// content or key went out under another key or job is held too (I3). What was sent with the same
// content is read in the same query, so that all of it is of one moment.
package recheck
