// Package books has what a ledger keeps beside its rows. None of it can send a row again, or lose
// one: nothing here writes the tables entry, body, sent, former or exchange.
//
//	audit_*       what people ordered, and decisions of the program that must be visible, as one
//	              chain: each record has the hash of the one before, and each record of the journal
//	              the end of the chain before it. An act and its record are one transaction. Old
//	              records lose their personal data, not their place
//	references_*  de-para tables, each change with a new version, by which a pass finds that it must
//	              judge again what waits; lookups by document under a keyed hash, never the number
//	people_*      console users with hashes of their passwords, logins, approvals
//	cause_owners  who takes care of what keeps rows from going
//	alerts_*      what people were alerted to, one at most open for each topic and subject; each
//	              message until it is delivered or given up
//	closings      reports that a person closed, with the hash of their content
package books
