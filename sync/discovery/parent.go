// Rows whose parent has an id now.

package discovery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// AdoptOrphans maps the rows again that wait for a parent, so that a child goes in the run in which
// its parent is accepted. It does nothing if no parent was accepted since the last call. moved is
// how many rows have become pending.
func (r *Discoverer) AdoptOrphans(ctx context.Context) (moved int, err error) {
	if len(r.Job.Mapping.SentBy) == 0 {
		return 0, nil
	}
	// a text that changes with every acceptance in the parent jobs, and whenever a record there may belong
	// to another row
	var parts []string
	for _, job := range r.Job.Mapping.SentBy {
		var counts []int
		for _, state := range []trade.State{
			trade.Accepted, trade.Held, trade.Rejected, trade.Dismissed, trade.Withdrawn,
		} {
			n, err := r.Ledger.CountIn(ctx, job, state)
			if err != nil {
				return 0, err
			}
			counts = append(counts, n)
		}
		flags, err := r.Ledger.FlagCounts(ctx, job)
		if err != nil {
			return 0, err
		}
		unread, err := r.NeverRead(ctx, job)
		if err != nil {
			return 0, err
		}
		parts = append(parts, fmt.Sprintf("%s=%v %d %v", job, counts, flags[trade.Replaced], unread))
	}
	accepted := strings.Join(parts, " ")
	cursor, err := r.Ledger.Cursor(ctx, r.Job.Name())
	if err != nil || cursor.Parents == accepted {
		return 0, err
	}
	moved, err = r.MapOrphans(ctx)
	if err != nil {
		return moved, err
	}
	cursor.Parents = accepted
	return moved, r.Record(ctx, trade.Page{Cursor: &cursor})
}

// MapOrphans maps the rows again that wait for a parent, and records those that changed; a dry run
// records all of them. moved is how many have become pending.
func (r *Discoverer) MapOrphans(ctx context.Context) (moved int, err error) {
	err = r.Ledger.Orphans(ctx, r.Job.Name(), func(waiting []trade.Entry) error {
		known, err := r.ParentsOf(ctx, mapping.ValuesOf(waiting))
		if err != nil {
			return err
		}
		var page trade.Page
		for _, old := range waiting {
			entry := old
			r.Eval.Evaluate(&entry, old.Values, known)
			if r.Dry == nil && entry.State == old.State && entry.Cause == old.Cause &&
				slices.Equal(entry.WaitingFor, old.WaitingFor) {
				continue
			}
			entry.UpdatedAt = r.Clock.Now()
			page.Updates = append(page.Updates, trade.Update{From: old.State, Entry: entry})
			if entry.State == trade.Pending {
				moved++
			}
		}
		return r.Record(ctx, page)
	})
	return moved, err
}

// markCutOver notes, after a sweep, of the rows that wait for a parent which the ledger does not have
// whether only the cut-over of the parent's query leaves it out. That is for people, who then need not
// look for it: if the ERP does not answer, they are told what they were told before, and it is not
// asked again.
func (r *Discoverer) markCutOver(ctx context.Context) error {
	if len(r.Job.Mapping.SentBy) == 0 || !r.Report.Sweep {
		return nil
	}
	err := r.Ledger.Orphans(ctx, r.Job.Name(), func(waiting []trade.Entry) error {
		// the ERP is asked for the parents that the ledger does not have
		keys := map[trade.ParentKey]bool{}
		for _, e := range waiting {
			for _, a := range e.WaitingFor {
				if a.Job != "" {
					keys[trade.ParentKey{Job: a.Job, Key: a.Key}] = true
				}
			}
		}
		known, err := r.Ledger.Parents(ctx, slices.Collect(maps.Keys(keys)))
		if err != nil {
			return err
		}
		early := map[trade.ParentKey]bool{}
		for _, name := range r.Job.Mapping.SentBy {
			job, err := r.Env.Job(name)
			if err != nil {
				return err
			}
			var absent [][]string
			for key := range keys {
				_, there := known[key]
				if parts := mapping.SplitCode(key.Key); key.Job == name && !there && len(parts) == len(job.Spec.Key) {
					absent = append(absent, parts)
				}
			}
			rows, err := r.Source.BeforeCutOver(ctx, job.Query, absent)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				r.Log.Warn("the ERP does not say which parents are before the cut-over",
					zap.String("parents", name), zap.Error(err))
				return run.ErrEnough
			}
			for key := range job.ByKey(rows) {
				early[trade.ParentKey{Job: name, Key: key}] = true
			}
		}
		var page trade.Page
		for _, old := range waiting {
			entry := old
			entry.WaitingFor = slices.Clone(old.WaitingFor)
			for i, a := range entry.WaitingFor {
				if early[trade.ParentKey{Job: a.Job, Key: a.Key}] {
					entry.WaitingFor[i].ParentCause = trade.CauseCutOver
				} else if a.BeforeCutOver() {
					entry.WaitingFor[i].ParentCause = ""
				}
			}
			if !slices.Equal(entry.WaitingFor, old.WaitingFor) {
				page.Updates = append(page.Updates, trade.Update{From: old.State, Entry: entry})
			}
		}
		return r.Record(ctx, page)
	})
	if errors.Is(err, run.ErrEnough) {
		return nil
	}
	return err
}
