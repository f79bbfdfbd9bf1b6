// The brakes before a reading: new jobs, other key spaces, and other keys.

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

// A few rows come and go while a configuration is changed; a change of identity that loses less
// than 1/minLossShare of the known rows is ignored.
const minLossShare = 100

// BrakeIdentity pauses a job, before anything is recorded, if its configuration gives other names
// or keys to rows that the ledger knows: they would be sent a second time.
func (r *Guard) BrakeIdentity(ctx context.Context, cursor trade.Cursor) error {
	was := cursor.Brakes.Identity
	fresh := was == nil && cursor.Bound == "" && cursor.SweptAt.IsZero() && len(cursor.Brakes.Former) == 0
	moved := was != nil && was.Space != r.Job.Identity.Space
	if fresh || moved {
		known, err := r.Ledger.JobsOfLedger(ctx)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(known, func(k trade.KnownJob) bool { return k.Job == r.Job.Name() })
		switch {
		case moved && at >= 0: // keys that other jobs have sent would no longer be compared with its entries
			now := *was // a changed key or table is judged below, after the release
			now.Space = r.Job.Identity.Space
			return r.Braked(outcome.StopNewJob, trade.Brake{Known: known[at].Entries, Was: was, Identity: &now})
		case fresh && at < 0:
			// Usually the new job is a former one under another name, or has a part of its rows.
			var b trade.Brake
			for _, k := range known {
				rows, err := r.MissingFrom(ctx, &k)
				if err != nil {
					return err
				}
				if rows == 0 {
					continue
				}
				former, err := r.Ledger.Cursor(ctx, k.Job)
				if err != nil {
					return err
				}
				if id := former.Brakes.Identity; id != nil {
					k.Apart = id.Space != r.Job.Identity.Space
				}
				b.Rows, b.Former = b.Rows+rows, append(b.Former, k)
			}
			if len(b.Former) > 0 {
				return r.Braked(outcome.StopNewJob, b)
			}
		}
	}
	// While another job is about to move into the key space and nobody has accepted that, the keys
	// that it has sent are still in its old space, and are not compared.
	for _, other := range r.Jobs {
		if other.Name() == r.Job.Name() || other.Spec.Sends != r.Job.Spec.Sends ||
			other.Identity.Space != r.Job.Identity.Space {
			continue
		}
		cursor, err := r.Ledger.Cursor(ctx, other.Name())
		if err != nil {
			return err
		}
		if was := cursor.Brakes.Identity; was != nil && was.Space != other.Identity.Space {
			return &outcome.StopError{Stop: trade.Stop{
				Code:  string(outcome.StopNewJob),
				Brake: &trade.Brake{Job: r.Job.Name()},
				Why: trade.Say("stop.brake_new_job.others", "job", r.Job.Name(), "other", other.Name(),
					"space", other.Identity.Space, "was", was.Space),
			}}
		}
	}
	// Known rows are gone under a changed key or table, and others are new in their place (F024).
	if !r.Brakes.ChangedKey || was == nil || was.SameRows(r.Job.Identity) {
		return nil
	}
	b, err := r.ChangeOfIdentity(ctx, *was, false)
	if err != nil || b.Rows == 0 || isSmallLoss(b) {
		return err
	}
	return r.Braked(outcome.StopChangedKey, b)
}

// MissingFrom counts the rows of this job's kind that another job has sent, or may have sent, and that
// it does not have any more: all if it is not configured, else those that its query no longer
// returns, which it notes in Gone. Of a configured job these are none in another key space, and if
// there is no ERP to be asked; rows that a person has acknowledged as missing do not count.
func (r *Guard) MissingFrom(ctx context.Context, other *trade.KnownJob) (rows int, err error) {
	if other.Sends == r.Job.Spec.Sends {
		rows = other.Accepted + other.InDoubt
	}
	job := r.Configured(other.Job)
	if rows == 0 || job == nil {
		return rows, nil
	}
	if r.Source == nil || job.Identity.Space != r.Job.Identity.Space {
		return 0, nil
	}
	stands, gone := map[run.KeyHash]bool{}, 0
	err = run.EachRow(ctx, r.Source, job, func(row *mapping.Row) error {
		stands[run.HashKey(row.Key)] = true
		return nil
	})
	if err != nil {
		return 0, &run.QueryError{
			Where: trade.Say("query.other_job", "job", r.Job.Name(), "other", job.Name()), Err: err,
		}
	}
	err = r.Ledger.EachKnown(ctx, job.Name(), func(k trade.Known) error {
		if k.State.MayBeOnPlatform() && !stands[run.HashKey(k.Key)] && !k.Acknowledged.Has(trade.MissingInERP) {
			gone++
		}
		return nil
	})
	if gone > 0 {
		other.Gone = gone
	}
	return gone, err
}

// ChangeOfIdentity counts what a changed key or table does to the rows that the ledger knows, and
// names the first few that would look new; unless always, only if so many are lost that the job is paused.
func (r *Guard) ChangeOfIdentity(ctx context.Context, was trade.Identity, always bool) (trade.Brake, error) {
	b := trade.Brake{Job: r.Job.Name(), Was: &was, Identity: &r.Job.Identity}
	// the rows that the query returns now; false: only cancelled rows, which would never be new
	alive := map[run.KeyHash]bool{}
	err := run.EachRow(ctx, r.Source, r.Job, func(row *mapping.Row) error {
		alive[run.HashKey(row.Key)] = alive[run.HashKey(row.Key)] || !row.Cancelled
		return nil
	})
	if err != nil {
		return b, err
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
	if err != nil || b.Rows == 0 || !always && isSmallLoss(b) {
		return b, err
	}
	err = run.EachRow(ctx, r.Source, r.Job, func(row *mapping.Row) error {
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
	return b, err
}

// isSmallLoss reports whether a change of identity loses too few of the known rows to be one.
func isSmallLoss(b trade.Brake) bool {
	lost := b.Known - b.Found
	return lost == 0 || lost*minLossShare < b.Known
}
