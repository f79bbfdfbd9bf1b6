package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// The measures, as -only and the results name them.
const (
	mSend    = "send"    // rows per second, next to the limit
	mFsync   = "fsync"   // the same, with flushes that take 2 ms longer
	mKill    = "kill"    // SIGKILL once, in the middle
	mLoss    = "loss"    // 5 % of the answers are lost once
	mMemory  = "memory"  // a first pass over a given number of rows
	mIdle    = "idle"    // a pass that finds nothing new
	mSweep   = "sweep"   // a pass that compares everything; its ratio is to psql
	mGrowth  = "growth"  // a pass that sends new rows, with a given number of entries in the ledger
	mProfile = "profile" // where CPU time is spent
)

// measures lists all of them, in order.
var measures = []string{mSend, mFsync, mKill, mLoss, mMemory, mIdle, mSweep, mGrowth, mProfile}

// result is one run, and one JSON line.
type result struct {
	Measure   string `json:"measure"`
	Who       string `json:"who"`
	LatencyMS int    `json:"latency_ms"`
	Rep       int    `json:"rep"`
	Rows      int    `json:"rows"`    // sent or compared in this run
	Entries   int    `json:"entries"` // in the ledger before the run
	// of the whole process; of the loop alone for the limit; of the pass by its own report for idle
	// and sweep
	Seconds    float64 `json:"seconds"`
	Process    float64 `json:"process_seconds"`
	APISeconds float64 `json:"api_seconds"` // from the first POST to the last answer, as the API saw it
	RowsPerS   float64 `json:"rows_per_s"`  // by Seconds
	Ratio      float64 `json:"ratio"`       // to the limit of the same repetition; of a sweep, to psql
	// the same by APISeconds: without the start, the reading of the ERP before, and the end
	APIRatio  float64 `json:"api_ratio"`
	CPU       float64 `json:"cpu_per_1000"`
	LedgerCPU float64 `json:"ledger_cpu_per_1000"` // of the PostgreSQL that holds the ledger
	// of the PostgreSQL that is the ERP; the other contestants keep their books there
	ERPCPU  float64 `json:"erp_cpu_per_1000"`
	PeakMiB float64 `json:"peak_mib"`
	agreement
}

func (r result) String() string {
	return fmt.Sprintf(
		"%-7s %-18s %2d ms %8d rows %8.3f s  %7.0f rows/s  ratio %.3f (API %.3f)  CPU %.3f + ledger %.3f + ERP %.3f s/1000  %5.1f MiB  lost %d, doubled %d, wrong %d, in doubt %d",
		r.Measure, r.Who, r.LatencyMS, r.Rows, r.Seconds, r.RowsPerS, r.Ratio, r.APIRatio, r.CPU, r.LedgerCPU, r.ERPCPU,
		r.PeakMiB, r.Lost, r.Doubled, r.Wrong, r.InDoubt)
}

// add prints a result and stores it. Differences in our own ledger make the measurement fail at the
// end.
func (b *bench) add(r result, err error) error {
	if err != nil {
		return err
	}
	r.RowsPerS = float64(r.Rows) / r.Seconds
	if strings.HasPrefix(r.Who, ourName) {
		b.failed = errors.Join(b.failed, r.err(r.Measure+", "+r.Who))
	}
	b.results = append(b.results, r)
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(b.json, "%s\n", line); err != nil {
		return err
	}
	_, err = fmt.Fprintln(b.w, r)
	return err
}
