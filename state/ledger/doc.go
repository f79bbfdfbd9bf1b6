// Package ledger keeps what is known of each row of the ERP: entries, their attempts, and the sums
// by state.
//
// It guarantees that a change names the state that it saw ("somebody was first" is an answer), that
// the sums are moved in the transaction that moves an entry (I9), that intents are fenced by the
// lease (I12), and that a definite answer is stored whoever has the lease.
//
// commit.go is the group commit: which row is settled, moved or claimed in which order, and what a
// crash after each step leaves. settle.go and late.go have what an answer means, recover.go what
// the dead leave, act.go what people order, submit.go what is due.
//
// # What is in flight
//
// On a tmpfs of the host stands a file for each process that sends (package marks, marks.go): which
// requests have left, and what was answered, without a flush. Recover believes it of a process that
// has ended, under the boot of the kernel that it ran under: of what the process had claimed, the
// rest goes again, and only what had left without an answer is in doubt (I11).
package ledger
