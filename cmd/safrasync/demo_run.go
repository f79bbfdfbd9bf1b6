package main

import (
	"fmt"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// demoRun is what one run did, and what the ledger and the platform have after it.
type demoRun struct {
	reports  []trade.RunReport // of the jobs, parents first
	entries  []trade.Entry
	jobs     []engine.JobSpec
	platform map[trade.Kind]int // records that the platform has
}

// agrees proves that the ledger and the platform say the same of each kind: each row sent stands there once, and nothing else does, but for the
// records whose answer was lost.
func (r *demoRun) agrees(records []sandbox.Record) error {
	there := map[string]int{}
	for _, record := range records {
		there[record.Resource+record.ID]++
		r.platform[trade.Kind(record.Resource)]++
	}
	for _, kind := range trade.Kinds {
		sent := r.of(kind, trade.Accepted)
		for _, e := range sent {
			if n := there[string(kind)+e.RemoteID]; n != 1 {
				return fmt.Errorf("the platform has %s %s %d times instead of once: please report this fault of the program", e.Job, e.Key, n)
			}
		}
		if known := len(sent) + len(r.of(kind, trade.InDoubt)); known != r.platform[kind] {
			return fmt.Errorf("the platform has %d %s and the ledger %d: please report this fault of the program", r.platform[kind], kind, known)
		}
	}
	return nil
}

// of gives the entries of a kind in a state.
func (r *demoRun) of(kind trade.Kind, state trade.State) []trade.Entry {
	var out []trade.Entry
	for _, e := range r.entries {
		if e.Sends == kind && e.State == state {
			out = append(out, e)
		}
	}
	return out
}

// kept gives the entries of a kind that did not go.
func (r *demoRun) kept(kind trade.Kind) []trade.Entry {
	var out []trade.Entry
	for _, e := range r.entries {
		if e.Sends == kind && e.State != trade.Accepted {
			out = append(out, e)
		}
	}
	return out
}

// report is that of the job which sends a kind.
func (r *demoRun) report(kind trade.Kind) trade.RunReport {
	for i, spec := range r.jobs {
		if spec.Sends == kind {
			return r.reports[i]
		}
	}
	return trade.RunReport{} // unreachable: the demo has a job for each kind
}

// sentOnly proves that a run sent what it had to, and nothing else.
func (r *demoRun) sentOnly(want map[trade.Kind]int) error {
	for _, kind := range trade.Kinds {
		if got := r.report(kind).Sent; got != want[kind] {
			return fmt.Errorf("a run of the demo sent %d %s instead of %d: please report this fault of the program", got, kind, want[kind])
		}
	}
	return nil
}
