// Package ledger stores what is known of each row of the ERP: entries, their attempts, and the sums
// by state.
//
// It guarantees that every change is a compare-and-set (that something has changed since is a
// normal result), that the sums are updated in the transaction that moves an entry (I9), that
// intents are fenced by the lease (I12), and that a definite answer is stored whoever holds the
// lease.
//
// commit.go is the group commit: in which order rows are settled, moved and claimed, and what a
// crash after each step leaves. settle.go and late.go decide what an answer means, recover.go what
// becomes of the attempts of dead processes. act.go has the acts of people, submit.go the queue.
package ledger
