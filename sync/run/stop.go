// The errors that end a run.

package run

import (
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/trade"
)

// Stop returns the error that ends this job's run.
func (r *Run) Stop(code outcome.StopCode, text string) error {
	return &outcome.StopError{Stop: trade.Stop{Code: string(code), Text: text}}
}

// LeaseLost returns the error that ends a run whose lease is not certainly its own.
func (r *Run) LeaseLost() error {
	if err := r.Keeper.Why(); err != nil {
		return r.Stop(outcome.StopLease, "the ledger does not say that the job is still ours: "+err.Error())
	}
	return r.Stop(outcome.StopLease,
		"another process took the job over, or the ledger does not say that it is still ours; rows that were in flight are settled when their answers arrive")
}
