// The reason of a stop, and the states of a job, for the report.

package run

import (
	"context"
	"errors"
	"maps"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/trade"
)

// QueryError is a fault of the ERP in another query than the job's own.
type QueryError struct {
	Where trade.Sentence // which query
	Err   error
}

// Error returns the fault, with its query.
func (e *QueryError) Error() string { return e.Where.String() + ": " + e.Err.Error() }

// Unwrap returns the fault.
func (e *QueryError) Unwrap() error { return e.Err }

// Sentence returns the same for people.
func (e *QueryError) Sentence() trade.Sentence {
	return trade.Say("query.failed", "where", e.Where, "cause", e.Err)
}

// StopOf returns the stop that an error stands for. Faults of the ERP and of the ledger have stops
// too.
func StopOf(err error) trade.Stop {
	var s *outcome.StopError
	var source *erp.Error
	var platform *trade.OtherPlatformError
	switch {
	case errors.As(err, &s):
		return s.Stop
	case errors.Is(err, trade.ErrLeaseLost):
		return trade.Stop{Code: string(outcome.StopLease), Why: trade.Say("stop.lease")}
	case errors.Is(err, context.Canceled):
		return outcome.Interrupted()
	case errors.Is(err, trade.ErrUnwitnessed):
		return trade.Stop{Code: string(outcome.StopWitness), Why: trade.Say("stop.witness", "cause", err)}
	case errors.As(err, &platform):
		return trade.Stop{Code: string(outcome.StopPlatform), Why: platform.Sentence(), All: true}
	case errors.As(err, &source):
		why := trade.Say("stop.erp.cause", "cause", source.Text, "sqlstate", source.SQLState)
		if other, ok := errors.AsType[*QueryError](err); ok {
			why.Code = "stop.erp.where"
			why = why.With("where", other.Where)
		}
		return trade.Stop{Code: string(outcome.StopERP), Why: why}
	}
	return trade.Stop{Code: string(outcome.StopLedger), Why: trade.Say("stop.ledger.use", "cause", err), All: true}
}

// CountStates fills in the report how many entries of the job are in each state and have each flag.
func (r *Run) CountStates(ctx context.Context) {
	r.Report.States, r.Report.Flags = map[trade.State]int{}, map[trade.Flag]int{}
	tallies, err := r.Ledger.Counts(ctx, r.Job.Name())
	if err != nil {
		r.Note(trade.Say("note.states_not_counted", "cause", err))
		return
	}
	for _, t := range tallies { // those of a dry run are also differences
		r.Report.States[t.State] += t.Count
	}
	maps.DeleteFunc(r.Report.States, func(_ trade.State, n int) bool { return n == 0 })
	r.Report.Flags, err = r.Ledger.FlagCounts(ctx, r.Job.Name())
	if err != nil {
		r.Note(trade.Say("note.flags_not_counted", "cause", err))
	}
}
