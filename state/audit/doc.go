// Package audit keeps what people ordered, and what the program decided by itself and must tell:
// one chain, each record with the hash of the one before.
//
// No record can be altered, taken out or put in without altering all that follow; the journal has
// the ends of the chain from before each act. Old records lose their persons, not their place.
package audit
