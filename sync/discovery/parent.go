// Rows whose parent has an id now.

package discovery

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// AdoptOrphans maps the rows again that wait for a parent, so that a child goes in the run in which
// its parent is accepted. It does nothing if no parent was accepted since the last call. moved is
// how many rows have become pending.
func (r *Discoverer) AdoptOrphans(ctx context.Context) (moved int, err error) {
	if len(r.Run.Job.Mapping.SentBy) == 0 {
		return 0, nil
	}
	accepted, err := r.acceptedParents(ctx)
	if err != nil {
		return 0, err
	}
	cursor, err := r.Run.Ledger.Cursor(ctx, r.Run.Job.Name())
	if err != nil || cursor.Parents == accepted {
		return 0, err
	}
	if moved, err = r.MapOrphans(ctx); err != nil {
		return moved, err
	}
	cursor.Parents = accepted
	return moved, r.Run.Record(ctx, trade.Page{Cursor: &cursor})
}

// MapOrphans maps the rows again that wait for a parent, and records those that changed; a dry run
// records all of them. moved is how many have become pending.
func (r *Discoverer) MapOrphans(ctx context.Context) (moved int, err error) {
	err = r.Run.Ledger.Orphans(ctx, r.Run.Job.Name(), func(waiting []trade.Entry) error {
		known, err := r.Run.ParentsOf(ctx, mapping.ValuesOf(waiting))
		if err != nil {
			return err
		}
		var page trade.Page
		for _, old := range waiting {
			entry := old
			r.Run.Eval.Evaluate(&entry, old.Values, known)
			if r.Run.Dry == nil && entry.State == old.State && entry.Cause == old.Cause &&
				slices.Equal(entry.WaitingFor, old.WaitingFor) {
				continue
			}
			entry.UpdatedAt = r.Run.Env.Clock.Now()
			page.Updates = append(page.Updates, trade.Update{From: old.State, Entry: entry})
			if entry.State == trade.Pending {
				moved++
			}
		}
		return r.Run.Record(ctx, page)
	})
	return moved, err
}

// acceptedParents returns a text that changes with every acceptance in the parent jobs, and
// whenever a record there may belong to another row.
func (r *Discoverer) acceptedParents(ctx context.Context) (string, error) {
	var parts []string
	for _, job := range r.Run.Job.Mapping.SentBy {
		tallies, err := r.Run.Ledger.Counts(ctx, job)
		if err != nil {
			return "", err
		}
		n, aside := 0, map[trade.State]int{}
		for _, t := range tallies {
			switch t.State {
			case trade.Accepted:
				n += t.Count
			case trade.Held, trade.Rejected, trade.Dismissed, trade.Withdrawn:
				aside[t.State] += t.Count
			}
		}
		flags, err := r.Run.Ledger.FlagCounts(ctx, job)
		if err != nil {
			return "", err
		}
		unread, err := r.Run.NeverRead(ctx, job)
		if err != nil {
			return "", err
		}
		parts = append(parts, fmt.Sprintf("%s=%d %v %d %v", job, n, aside, flags[trade.Replaced], unread))
	}
	return strings.Join(parts, " "), nil
}
