// The brakes before a reading: new jobs and other key spaces.

package brakes

import (
	"context"
	"slices"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// BrakeNewJob pauses a new job if the ledger has sent rows of the same kind whose job does not have
// them any more: the job is gone from the configuration, or its query no longer returns them.
// Usually the new job is the old one under another name, or has a part of its rows. The brake acts
// before anything is recorded.
func (r *Guard) BrakeNewJob(ctx context.Context, cursor trade.Cursor) error {
	if cursor.Bound != "" || !cursor.SweptAt.IsZero() || cursor.Brakes.Identity != nil ||
		len(cursor.Brakes.Former) > 0 {
		return nil
	}
	known, err := r.Ledger.JobsOfLedger(ctx)
	if err != nil || slices.ContainsFunc(known, func(k trade.KnownJob) bool { return k.Job == r.Job.Name() }) {
		return err
	}
	var b trade.Brake
	for _, k := range known {
		if k.Sends != r.Job.Spec.Sends || k.Accepted+k.InDoubt == 0 {
			continue
		}
		rows := k.Accepted + k.InDoubt
		if was, err := r.Ledger.Cursor(ctx, k.Job); err != nil {
			return err
		} else if id := was.Brakes.Identity; id != nil {
			k.Apart = id.Space != r.Job.Identity.Space
		}
		if job := r.Configured(k.Job); job != nil {
			k.Gone, err = r.GoneFrom(ctx, job)
			if err != nil {
				return err
			}
			if k.Gone == 0 {
				continue
			}
			rows = k.Gone
		}
		b.Rows += rows
		b.Former = append(b.Former, k)
	}
	if len(b.Former) == 0 {
		return nil
	}
	return r.Braked(outcome.StopNewJob, b)
}

// GoneFrom counts the rows that another job has sent, or may have sent, and that its query no
// longer returns, except those that a person has acknowledged as missing. It returns 0 for a job in
// another key space.
func (r *Guard) GoneFrom(ctx context.Context, other *mapping.Job) (gone int, err error) {
	if other.Identity.Space != r.Job.Identity.Space {
		return 0, nil
	}
	stands := map[run.KeyHash]bool{}
	err = run.EachRow(ctx, r.Source, other, func(row *mapping.Row) error {
		stands[run.HashKey(row.Key)] = true
		return nil
	})
	if err != nil {
		return 0, &run.QueryError{
			Where: trade.Say("query.other_job", "job", r.Job.Name(), "other", other.Name()), Err: err,
		}
	}
	err = r.Ledger.EachKnown(ctx, other.Name(), func(k trade.Known) error {
		if k.State.Created() && !stands[run.HashKey(k.Key)] && !k.Acknowledged.Has(trade.MissingInERP) {
			gone++
		}
		return nil
	})
	return gone, err
}

// BrakeSpace pauses a job whose entries are in another key space than its configuration states
// (`identity:`): keys that other jobs have sent would no longer be compared. It acts before
// anything is recorded.
func (r *Guard) BrakeSpace(ctx context.Context, cursor trade.Cursor) error {
	was := cursor.Brakes.Identity
	if was == nil || was.Space == r.Job.Identity.Space {
		return r.brakeSpaceOfOthers(ctx)
	}
	known, err := r.Ledger.JobsOfLedger(ctx)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(known, func(k trade.KnownJob) bool { return k.Job == r.Job.Name() })
	if at < 0 {
		return r.brakeSpaceOfOthers(ctx)
	}
	now := *was // a changed key or table is judged by BrakeIdentity
	now.Space = r.Job.Identity.Space
	return r.Braked(outcome.StopNewJob, trade.Brake{Known: known[at].Entries, Was: was, Identity: &now})
}

// brakeSpaceOfOthers pauses a job while another job is about to move into its key space and nobody
// has accepted that: the keys that the other job has sent are still in its old space, and are not
// compared.
func (r *Guard) brakeSpaceOfOthers(ctx context.Context) error {
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
	return nil
}
