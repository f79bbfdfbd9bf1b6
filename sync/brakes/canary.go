// The canary: only a few rows are sent under a new mapping until a person confirms it.

package brakes

import (
	"slices"

	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// canary lets only a few rows go under a query or a mapping that nobody has confirmed (`canary:`).
// A person checks them on the platform; a release lets the rest go. All of these rows are counted
// as sent before the first one is, so that no more of them go after a crash.
func (r *Guard) canary(memory *trade.Memory) error {
	mapping := r.Job.Fingerprint()
	if r.Job.Spec.Canary == 0 {
		memory.Mapping, memory.Canary = mapping, nil
		return nil
	}
	if memory.Mapping == mapping {
		memory.Canary = nil
		return nil
	}
	went := trade.Canary{Mapping: mapping}
	if c := memory.Canary; c != nil && c.Mapping == mapping {
		went = *c
	}
	r.Trial = &went
	if r.TrialLeft() == 0 {
		return r.Unconfirmed()
	}
	memory.Canary = &trade.Canary{Mapping: mapping, Rows: r.Job.Spec.Canary, Samples: went.Samples}
	return nil
}

// TrialLeft returns how many rows may still go under an unconfirmed mapping; -1 means all.
func (r *Guard) TrialLeft() int {
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
