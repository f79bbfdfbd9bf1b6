// Package cluster lets several instances share one ledger: each job has a lease (lease.go), and
// each instance sends a heartbeat and takes its share of the rate limit (member.go).
//
// Two owners never claim at once (I12): an owner stops claiming 20 s after its last renewal, on its
// own clock, and a lease ends after 30 s on the ledger's clock.
package cluster
