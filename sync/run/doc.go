// Package run is what the stages of one run of a job share: its job, its ledger and source, and
// what the runs of all jobs share (env.go), its report (report.go), and the interfaces through which the
// engine reaches storage, ERP and API (ports.go).
//
// A dry run is a run whose ledger is a [DryLedger]: it counts what would be stored, and has no way
// to store or to send.
package run
