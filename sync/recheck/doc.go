// Package recheck reads rows again just before their intents are stored (I8), and finds what was
// sent already.
//
// A row that changed is mapped again. One that is gone, doubled or cancelled is held, and so is one
// whose content or key was sent under another key or by another job (I3). What was sent with the
// same content is read in the same query, so that all of it is from the same moment.
package recheck
