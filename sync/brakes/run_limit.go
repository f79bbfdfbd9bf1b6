// The brake on how much one run may send.

package brakes

import (
	"context"
	"maps"

	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// brakeMost pauses the job when more is due than one run may send (`most:`). A person's release
// holds for this run; a later run is braked again.
func (r *Guard) brakeMost(ctx context.Context, memory *trade.Memory, last int64) error {
	most := r.Job.Spec.Most
	if most == nil {
		memory.Released = nil
		return nil
	}
	r.Room = *most
	if memory.Released != nil {
		r.Room = r.Room.And(*memory.Released)
	}
	due, samples, err := r.DueFreight(ctx)
	if err != nil {
		return err
	}
	if !due.Within(r.Room) {
		return r.Overloaded(due, samples, max(memory.Passed, last))
	}
	r.Released, memory.Released = memory.Released, nil // once: a run after a crash is braked again
	return nil
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
