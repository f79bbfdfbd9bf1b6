// Package outbox tells other programs of changes, each with a signed POST: events. The ledger has an
// event for each program that is to be told, stored by the transaction that made the change.
//
// What it guarantees: each event is delivered at least once, or given up after [Keep], and of one row
// no later event is delivered before an earlier one. An event has the same id each time that it is
// sent. One process delivers to a program at a time; if it dies, another takes over. A program that
// does not answer delays only its own events, and slows nothing else.
//
// sender.go has the loop, event.go the body and its signature,
// fault.go the words for what goes wrong.
package outbox
