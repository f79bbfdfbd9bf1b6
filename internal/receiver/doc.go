// Package receiver takes the events that the platform sends, on its own HTTP listener, which serves
// nothing else.
//
// What it does with a request, in this order, and nothing more:
//
//	connection   without TLS, only from the configured proxies; a bounded number of each sender at
//	             a time, one request each     receiver.go
//	method       POST
//	path         one that nobody can guess, of a registration of ours; it determines the event,
//	             because payloads may not name it
//	credentials  Basic, compared by their hashes in constant time
//	coding       none: a compressed body could be larger than its length
//	amount       a budget for all authenticated requests together
//	size, time   1 MiB, within a time limit
//	store        durably in the ledger; 503 if it does not take the event: the platform sends it
//	             again, or it is lost, as a hint may be. From then on one event is tried at a time,
//	             and the others get 503 at once, until one is stored     keeper.go
//	answer       200, with an empty body
//
// The meaning of an event is evaluated later, elsewhere; the receiver does not interpret the body.
// The platform waits 30 s for an answer; it gets one within 20 s of the last byte.
package receiver
