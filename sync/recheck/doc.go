// Package recheck reads rows again just before their intents are stored (I8), and asks package
// identity what they are.
//
// A row that changed is mapped again. One that is gone, doubled or cancelled is held, and so is one
// that identity does not let go (I3): compare.go gathers the records that it may be, with what
// stands under their keys in the ERP; hold.go does what identity says. The keys of records are read
// after the rows themselves, so that a row that was renumbered meanwhile is found under one of them.
package recheck
