// Package protocol is a model of the protocol around one POST: workers, the ledger, the platform,
// crashes, an older copy of the ledger, and a person. Its tests look at every world that can be
// reached (explore.go), in small bounds (world.go), and show that each rule is needed: without it a
// record is made twice.
//
// What an answer proves, which moves a row may make, and the least quarantine are those of the
// program (sync/outcome, trade, sync/run).
package protocol
