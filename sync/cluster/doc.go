// Package cluster lets several instances share one ledger: a lease for each job (lease.go), and the
// word of each instance that it lives, with its share of the pace (member.go).
//
// Two owners never claim at once (I12): an owner stops claiming when 20 s have passed on its own
// clock since the last renewal, and a lease ends after 30 s on the ledger's clock.
package cluster
