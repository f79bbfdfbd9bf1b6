// Package protocol is a model of the protocol around one POST: workers, the ledger, the platform,
// crashes, an older copy of the ledger, and a person. Within small bounds (world.go), its tests
// explore every reachable world (explore.go). They also show that each rule is needed: without it,
// a record is created twice.
//
// The meaning of an answer, the moves of a row and the shortest quarantine are those of the program
// (sync/outcome, trade, sync/run).
package protocol
