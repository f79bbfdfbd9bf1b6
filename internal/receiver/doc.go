// Package receiver takes the events that the platform sends: an HTTP listener of its own, with
// nothing else on it.
//
// What it does with a request, in this order, and never more:
//
//	connection   those of the named proxies only, where there is no TLS; a bounded number of each
//	             sender at a time, one request each     conns.go
//	method       POST
//	path         one that nobody can guess, of an event of ours; the event is told by it, because
//	             payloads may not name it
//	credentials  Basic, compared by their hashes in constant time
//	guesses      what was wrong so far uses up a budget of its sender; beyond it the answer is 429
//	             budget.go
//	coding       none: a packed body would be larger than it says
//	amount       a budget for all that is authenticated
//	size, time   1 MiB, read within a time
//	store        durably; in the spool where the ledger does not take it soon enough
//	             keeper.go, spool.go
//	answer       200, with nothing in it
//
// What an event means is for others, later: nothing of a body is looked at here. The platform waits
// 30 s for an answer; it has one within two seconds of the last byte.
package receiver
