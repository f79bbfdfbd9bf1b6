// Package audit stores what people ordered, and decisions of the program itself that must be
// visible, as one chain: each record has the hash of the one before.
//
// No record can be altered, removed or inserted without altering all that follow, and each record of
// the journal has the end of the chain from before it; a retention, daily, writes one if nothing
// else does. Old records lose their personal data, not their place.
package audit
