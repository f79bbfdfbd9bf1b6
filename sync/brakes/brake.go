// The brakes that judge the result of a reading.

package brakes

import (
	"context"
	"maps"
	"slices"

	"github.com/safrasync/safrasync/sync/identity"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Judge asks package identity what rows are; see sending.Checker.
type Judge interface {
	Judge(ctx context.Context, entries, ahead, storing []trade.Entry,
		found map[string][]mapping.Row) ([]identity.Verdict, []identity.Candidate, error)
}

// Guard judges the result of a reading before anything is sent, and counts what goes under a
// release or under an unconfirmed mapping.
type Guard struct {
	*run.Run
	recheck Judge

	Room     trade.Freight  // what this run may send, under `most:`
	Released *trade.Freight // what a person has released beyond `most:`
	Trial    *trade.Canary  // what went under an unconfirmed mapping; nil if it is confirmed
}

// New returns the guard of one run.
func New(r *run.Run, c Judge) *Guard { return &Guard{Run: r, recheck: c} }

const (
	brakeHistory = 20 // readings whose median is the usual number of new rows
	brakeLearns  = 3  // readings with new rows before anything is usual
)

// Brake judges what the reading found, before anything is sent. What it lets pass is
// stored as a mark, and never judged again. It judges all entries that the ledger has above that
// mark, not only those of this run, so that entries of an interrupted reading are judged with those
// of the next one.
func (r *Guard) Brake(ctx context.Context) error {
	cursor, err := r.Ledger.Cursor(ctx, r.Job.Name())
	if err != nil {
		return err
	}
	memory := cursor.Brakes
	came, err := r.Ledger.Arrivals(ctx, r.Job.Name(), memory.Passed, run.BrakeSamples)
	if err != nil {
		return err
	}
	if came.Rebuilt && !memory.Rebuilt { // stored before a brake acts: its release moves the mark
		memory.Rebuilt, cursor.Brakes.Rebuilt = true, true
		if err := r.Record(ctx, trade.Page{Cursor: &cursor}); err != nil {
			return err
		}
	}
	if err := r.brakeRetyped(ctx, memory, came); err != nil {
		return err
	}
	// The job is paused when far more rows are new than usual (F025). The first reading of a job
	// finds everything in scope: a go-live is checked with --dry-run, not braked. Before anything
	// is usual, as many may be new as the job had in all, unless its ledger was rebuilt: that lacks
	// what was usual, and is no go-live.
	if r.Brakes.NewRows != 0 && came.Before {
		usual, limit := 0, r.Brakes.NewRowsLeast
		if len(memory.Counts) >= brakeLearns || memory.Rebuilt {
			if n := len(memory.Counts); n > 0 { // the middle one, of two the larger
				usual = slices.Sorted(slices.Values(memory.Counts))[n/2]
			}
			limit = max(limit, r.Brakes.NewRows*usual)
		} else {
			tallies, err := r.Ledger.Counts(ctx, r.Job.Name())
			if err != nil {
				return err
			}
			limit = max(limit, trade.RowsIn(tallies)-came.Count)
		}
		if came.Count > limit+memory.Allowed {
			return r.Braked(outcome.StopNewRows,
				trade.Brake{Rows: came.Count, Usual: usual, Limit: limit, Samples: came.Samples, Last: came.Last})
		}
	}
	// The job is paused when more is due than one run may send (`most:`). A person's release holds
	// for this run only: one after a crash is braked again.
	if most := r.Job.Spec.Most; most != nil {
		r.Room = *most
		if memory.Released != nil {
			r.Room = r.Room.And(*memory.Released)
		}
		due, samples, err := r.DueFreight(ctx)
		if err != nil {
			return err
		}
		if !due.Within(r.Room) {
			return r.Overloaded(due, samples, max(memory.Passed, came.Last))
		}
		r.Released = memory.Released
	}
	memory.Released = nil
	// Only a few rows go under a query or a mapping that nobody has confirmed (`canary:`). A person
	// checks them on the platform; a release lets the rest go. All of these rows are counted as
	// sent before the first one is, so that no more of them go after a crash.
	tried := memory.Canary
	memory.Canary = nil
	switch now := r.Job.Fingerprint(); {
	case r.Job.Spec.Canary == 0:
		memory.Mapping = now
	case memory.Mapping != now:
		r.Trial = &trade.Canary{Mapping: now}
		if tried != nil && tried.Mapping == now {
			*r.Trial = *tried
		}
		if r.TrialRemaining() == 0 {
			return r.Unconfirmed()
		}
		memory.Canary = &trade.Canary{Mapping: now, Rows: r.Job.Spec.Canary, Samples: r.Trial.Samples}
	}
	if came.Count > 0 {
		// the first reading, and what a person let pass, do not count as usual
		if came.Before && memory.Allowed == 0 {
			memory.Counts = append(slices.Clone(memory.Counts), came.Count)
			memory.Counts = memory.Counts[max(0, len(memory.Counts)-brakeHistory):]
		}
		memory.Allowed = 0
	}
	memory.Passed = max(memory.Passed, came.Last)
	memory.Identity = &r.Job.Identity
	if memory.Equal(cursor.Brakes) {
		return nil
	}
	cursor.Brakes = memory
	return r.Record(ctx, trade.Page{Cursor: &cursor})
}

// brakeRetyped pauses the job when many new rows have the content of rows that were sent under keys
// which are gone (F021, F023): a key that is written differently, or contracts that were
// renumbered. If there are only a few, the recheck holds each of them. Rows with the content of
// rows of another job count too: two queries may return one row under two keys.
func (r *Guard) brakeRetyped(ctx context.Context, memory trade.BrakeState, came trade.Arrivals) error {
	if r.Brakes.Retyped == 0 || came.Count < r.Brakes.Retyped {
		return nil
	}
	count, again := 0, 0
	var samples []string
	var sent []trade.Counterpart
	judge := func(entries []trade.Entry) error {
		verdicts, _, err := r.recheck.Judge(ctx, entries, nil, nil, nil)
		if err != nil {
			return err
		}
		for i, e := range entries {
			v := verdicts[i]
			twoJobs := v.TwoJobs != "" || r.Dry != nil && r.Dry.Elsewhere(e)
			if v.Cause != trade.CauseRetyped && !twoJobs {
				continue
			}
			count++
			if v.Cause != trade.CauseRetyped {
				again++
			}
			if len(samples) < run.BrakeSamples {
				was := ""
				if v.Cause == trade.CauseRetyped {
					lost := v.Because.Candidate.Record
					was = " ← " + lost.Row.Key
					sent = append(sent, trade.Counterpart{
						Job: lost.Row.Job, Key: lost.Row.Key, RemoteID: lost.RemoteID,
					})
				}
				samples = append(samples, e.Key+was)
			}
		}
		return nil
	}
	for _, state := range []trade.State{trade.Pending, trade.Waiting} {
		err := r.EachUnjudged(memory.Passed, func(after int64) ([]trade.Entry, error) {
			return r.Ledger.NewContents(ctx, r.Job.Name(), state, after, run.PageSize)
		}, judge)
		if err != nil {
			return err
		}
	}
	if r.Dry != nil {
		fresh := slices.DeleteFunc(slices.Clone(r.Dry.Ready), func(row *run.DryRow) bool { return row.ID > 0 })
		for page := range slices.Chunk(fresh, run.PageSize) {
			entries, err := r.Dry.Unpack(ctx, page)
			if err == nil {
				err = judge(entries)
			}
			if err != nil {
				return err
			}
		}
	}
	if count < r.Brakes.Retyped {
		return nil
	}
	return r.Braked(outcome.StopRetyped, trade.Brake{
		Rows: count, Again: again, Limit: r.Brakes.Retyped, Samples: samples, Last: came.Last, Sent: sent,
	})
}

// Braked returns the error that pauses the job.
func (r *Guard) Braked(code outcome.StopCode, b trade.Brake) error {
	b.Job = r.Job.Name()
	return &outcome.StopError{Stop: trade.Stop{Code: string(code), Brake: &b}}
}

// DueFreight returns the sums of what is due now, and a few keys.
func (r *Guard) DueFreight(ctx context.Context) (due trade.Freight, samples []string, err error) {
	if r.Dry != nil {
		due = r.Dry.Load
		due.Value = maps.Clone(due.Value)
	}
	err = r.EachUnjudged(0, func(after int64) ([]trade.Entry, error) {
		return r.Ledger.Due(ctx, r.Job.Name(), r.Clock.Now(), after, run.PageSize)
	}, func(entries []trade.Entry) error {
		for _, e := range entries {
			due.Add(e)
			if len(samples) < run.BrakeSamples {
				samples = append(samples, e.Key)
			}
		}
		return nil
	})
	if err != nil {
		return due, nil, err
	}
	if r.Dry != nil {
		for _, row := range r.Dry.Ready[:min(len(r.Dry.Ready), run.BrakeSamples-len(samples))] {
			samples = append(samples, row.Key)
		}
	}
	return due, samples, nil
}

// Overloaded returns the stop of a run that would send too much.
func (r *Guard) Overloaded(due trade.Freight, samples []string, last int64) error {
	return r.Braked(outcome.StopMost, trade.Brake{
		Rows: due.Rows, Samples: samples, Last: last, Freight: &due, Most: r.Job.Spec.Most,
	})
}

// TrialRemaining returns how many rows may still go under an unconfirmed mapping; -1 means all.
func (r *Guard) TrialRemaining() int {
	if r.Trial == nil {
		return -1
	}
	return max(0, r.Job.Spec.Canary-r.Trial.Rows)
}

// Tried counts a row that goes under an unconfirmed mapping.
func (r *Guard) Tried(key string) {
	if r.Trial == nil {
		return
	}
	r.Trial.Rows++
	if len(r.Trial.Samples) < run.BrakeSamples {
		r.Trial.Samples = append(slices.Clone(r.Trial.Samples), key)
	}
}

// Untried undoes Tried: the row was certainly not sent, and nobody can check it on the platform.
func (r *Guard) Untried(key string) {
	if r.Trial == nil {
		return
	}
	r.Trial.Rows = max(0, r.Trial.Rows-1)
	if i := slices.Index(r.Trial.Samples, key); i >= 0 {
		r.Trial.Samples = slices.Delete(slices.Clone(r.Trial.Samples), i, i+1)
	}
}

// Unconfirmed returns the stop for a mapping whose first rows were sent and that nobody has
// confirmed.
func (r *Guard) Unconfirmed() error {
	return r.Braked(outcome.StopCanary,
		trade.Brake{Rows: r.Trial.Rows, Samples: r.Trial.Samples, Mapping: r.Trial.Mapping})
}
