// The brakes that judge the result of a reading.

package brakes

import (
	"context"
	"errors"
	"slices"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

const (
	brakeHistory = 20 // readings whose median is the usual number of new rows
	brakeLearns  = 3  // readings with new rows before anything is usual
	// a change of identity that loses less than 1/lostShare of the known rows is ignored
	lostShare = 100
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
	if err := r.brakeNewRows(ctx, memory, came); err != nil {
		return err
	}
	if err := r.brakeMost(ctx, &memory, came.Last); err != nil {
		return err
	}
	if err := r.canary(&memory); err != nil {
		return err
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

// brakeNewRows pauses the job when far more rows are new than usual (F025). It ignores the first
// reading of a job, which finds everything in scope: a go-live is checked with --dry-run, not
// braked. Before anything is usual, as many may be new as the job had in all, unless its ledger was
// rebuilt: that lacks what was usual, and is no go-live.
func (r *Guard) brakeNewRows(ctx context.Context, memory trade.Memory, came trade.Arrivals) error {
	if r.Brakes.NewRows == 0 || !came.Before {
		return nil
	}
	usual := 0
	limit := r.Brakes.NewRowsLeast
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
	if came.Count <= limit+memory.Allowed {
		return nil
	}
	return r.Braked(outcome.StopNewRows,
		trade.Brake{Rows: came.Count, Usual: usual, Limit: limit, Samples: came.Samples, Last: came.Last})
}

// brakeRetyped pauses the job when many new rows have the content of rows that were sent under keys
// which are gone (F021, F023): a key that is written differently, or contracts that were
// renumbered. If there are only a few, the recheck holds each of them. Rows with the content of
// rows of another job count too: two queries may return one row under two keys.
func (r *Guard) brakeRetyped(ctx context.Context, memory trade.Memory, came trade.Arrivals) error {
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

// BrakeIdentity checks, before anything is recorded, what a changed key or table does to the rows
// that the ledger knows (F024). If known rows would be gone and others would be new in their place,
// the job is paused, because they would be sent a second time.
func (r *Guard) BrakeIdentity(ctx context.Context, cursor trade.Cursor) error {
	was := cursor.Brakes.Identity
	if !r.Brakes.ChangedKey || was == nil || was.SameRows(r.Job.Identity) {
		return nil
	}
	b, alive, err := r.ChangeOfIdentity(ctx, *was)
	if err != nil {
		return err
	}
	// A few rows come and go while a configuration is changed; a change of identity loses more than
	// one in a hundred.
	if lost := b.Known - b.Found; b.Rows == 0 || lost == 0 || lost*lostShare < b.Known {
		return nil
	}
	if err := r.SamplesOf(ctx, &b, alive); err != nil {
		return err
	}
	return r.Braked(outcome.StopChangedKey, b)
}

// ChangeOfIdentity counts what a changed key or table does to the rows that the ledger knows. The
// map has the rows that would look new; its value is false for rows that are only cancelled.
func (r *Guard) ChangeOfIdentity(ctx context.Context, was trade.Identity) (trade.Brake, map[run.KeyHash]bool, error) {
	b := trade.Brake{Job: r.Job.Name(), Was: &was, Identity: &r.Job.Identity}
	// the rows that the query returns now; false: only cancelled rows, which would never be new
	alive := map[run.KeyHash]bool{}
	err := run.EachRow(ctx, r.Source, r.Job, func(row *mapping.Row) error {
		alive[run.HashKey(row.Key)] = alive[run.HashKey(row.Key)] || !row.Cancelled
		return nil
	})
	if err != nil {
		return b, nil, err
	}
	err = r.Ledger.EachKnown(ctx, r.Job.Name(), func(k trade.Known) error {
		_, there := alive[run.HashKey(k.Key)]
		delete(alive, run.HashKey(k.Key))
		if k.GoneSweeps == 0 && k.State != trade.Withdrawn {
			b.Known++
			if there {
				b.Found++
			} else if k.State == trade.Accepted && len(b.Sent) < run.BrakeSamples {
				b.Sent = append(b.Sent, trade.Counterpart{Job: b.Job, Key: k.Key})
			}
		}
		return nil
	})
	for _, living := range alive {
		if living {
			b.Rows++
		}
	}
	return b, alive, err
}

// SamplesOf adds the keys of the first few rows that would look new to b.
func (r *Guard) SamplesOf(ctx context.Context, b *trade.Brake, alive map[run.KeyHash]bool) error {
	err := run.EachRow(ctx, r.Source, r.Job, func(row *mapping.Row) error {
		if alive[run.HashKey(row.Key)] && !slices.Contains(b.Samples, row.Key) {
			b.Samples = append(b.Samples, row.Key)
		}
		if len(b.Samples) == run.BrakeSamples {
			return run.ErrEnough
		}
		return nil
	})
	if errors.Is(err, run.ErrEnough) {
		err = nil
	}
	return err
}

// Braked returns the error that pauses the job.
func (r *Guard) Braked(code outcome.StopCode, b trade.Brake) error {
	b.Job = r.Job.Name()
	return &outcome.StopError{Stop: trade.Stop{Code: string(code), Brake: &b}}
}
