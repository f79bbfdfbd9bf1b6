// Package audit stores what people ordered, and decisions of the program itself that must be
// visible, as one chain: each record has the hash of the one before.
//
// No record can be altered, removed or inserted without altering all that follow, and the journal
// has the end of the chain from before each act. Old records lose their personal data, not their
// place.
package audit
