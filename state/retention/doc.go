// Package retention takes away what is old: bodies, runs, lookups, events, persons in the audit,
// and the part of the journal that nobody needs to recover from.
//
// It never takes away an entry, nor what tells that its content was sent (I3): it reduces them.
package retention
