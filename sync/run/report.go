// The reason of a stop, the states of a job, and the notes of a run, for its report.

package run

import (
	"context"
	"errors"
	"maps"

	"go.uber.org/zap"

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

// Note adds a note for IT to the report and the log.
func (r *Run) Note(note trade.Sentence) {
	r.Report.Notes = append(r.Report.Notes, note)
	r.Log.Warn("note", zap.Stringer("note", note))
}

// Alarm adds alarms about late answers to the report and the log; the ledger has them in its audit.
func (r *Run) Alarm(alarms []trade.Alarm) {
	r.Report.Alarms = append(r.Report.Alarms, alarms...)
	for _, a := range alarms {
		r.Log.Warn("alarm", zap.String("kind", string(a.Kind)), zap.String("attempt", a.Attempt),
			zap.Stringer("reason", a.Sentence()))
	}
}

// PausedStop returns the stop of a job that a person or a brake has paused.
func PausedStop(status trade.JobStatus) *trade.Stop {
	if status.Stop != nil {
		return status.Stop
	}
	return &trade.Stop{Code: string(outcome.StopPaused), Why: trade.Say("stop.paused")}
}
