// Package retention removes what is old: bodies, runs, lookups, events, personal data in the audit,
// and the part of the journal that recovery no longer needs.
//
// It never removes an entry, nor what shows that its content was sent (I3): it reduces entries.
package retention
