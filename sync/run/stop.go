// The errors that end a run.

package run

import (
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/trade"
)

// Stop returns the error that ends this job's run.
func (r *Run) Stop(code outcome.StopCode, why trade.Sentence) error {
	return &outcome.StopError{Stop: trade.Stop{Code: string(code), Why: why}}
}

// LeaseLost returns the error that ends a run whose lease is not certainly its own.
func (r *Run) LeaseLost() error {
	if err := r.Keeper.Why(); err != nil {
		return r.Stop(outcome.StopLease, trade.Say("stop.lease.unsure", "cause", err))
	}
	return r.Stop(outcome.StopLease, trade.Say("stop.lease"))
}
