package sync

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/trade"
)

// brakeMost pauses the job when more is due than one run may send (`most:`). What a person has released goes in this run; a later one asks again.
func (r *jobRun) brakeMost(ctx context.Context, memory *trade.Memory, last int64) error {
	most := r.job.Spec.Most
	if most == nil {
		memory.Released = nil
		return nil
	}
	r.room = *most
	if memory.Released != nil {
		r.room = r.room.And(*memory.Released)
	}
	due, samples, err := r.dueFreight(ctx)
	if err != nil {
		return err
	}
	if !due.Within(r.room) {
		return r.overloaded(due, samples, max(memory.Passed, last))
	}
	r.released, memory.Released = memory.Released, nil // once: a run that dies asks again
	return nil
}

// dueFreight sums what may go now.
func (r *jobRun) dueFreight(ctx context.Context) (due trade.Freight, samples []string, err error) {
	count := func(entries []trade.Entry) {
		for _, e := range entries {
			due.Add(e)
			if len(samples) < brakeSamples {
				samples = append(samples, e.Key)
			}
		}
	}
	if r.dry != nil {
		due = r.dry.load
		due.Value = maps.Clone(due.Value)
	}
	for after := int64(0); ; {
		entries, err := r.ledger.Due(ctx, r.job.Name(), r.Clock.Now(), after, pageSize)
		if err != nil {
			return due, nil, err
		}
		if len(entries) == 0 {
			break
		}
		if after = entries[len(entries)-1].ID; r.dry != nil {
			entries = slices.DeleteFunc(entries, func(e trade.Entry) bool { return r.dry.judged[e.ID] })
		}
		count(entries)
	}
	if r.dry != nil {
		for _, e := range r.dry.ready[:min(len(r.dry.ready), brakeSamples-len(samples))] {
			samples = append(samples, e.Key)
		}
	}
	return due, samples, nil
}

// overloaded is the brake of a run that would send too much.
func (r *jobRun) overloaded(due trade.Freight, samples []string, last int64) error {
	return r.braked(stopMost, trade.Brake{Rows: due.Rows, Samples: samples, Last: last, Freight: &due, Most: r.job.Spec.Most},
		fmt.Sprintf("%s are due, and one run may send %s, such as %s", freightText(due), freightText(*r.job.Spec.Most), strings.Join(samples, ", ")))
}

// freightText says in English what a freight is; what a limit does not limit is left out.
func freightText(f trade.Freight) string {
	var parts []string
	if f.Rows > 0 {
		parts = append(parts, fmt.Sprintf("%d rows", f.Rows))
	}
	if f.Kilograms.Sign() > 0 {
		parts = append(parts, f.Kilograms.Tonnes().String()+" t")
	}
	for _, currency := range slices.Sorted(maps.Keys(f.Value)) {
		parts = append(parts, currency+" "+f.Value[currency].String())
	}
	return strings.Join(parts, ", ")
}

// fitting takes from a batch what this run may still send. Rows that become due while it runs are judged here: what is on the platform by then stays.
func (s *submission) fitting(ctx context.Context, batch []trade.Entry) ([]trade.Entry, error) {
	if s.job.Spec.Most == nil {
		return batch, nil
	}
	if s.taken == nil {
		s.taken = map[int64]bool{}
	}
	for i, e := range batch {
		load := s.load
		load.Value = maps.Clone(load.Value)
		if !s.taken[e.ID] { // it came back unsent, and is counted already
			load.Add(e)
		}
		if !load.Within(s.room) {
			if i > 0 {
				s.after = batch[i-1].ID
				return batch[:i], nil
			}
			due, samples, err := s.dueFreight(ctx)
			if err != nil {
				return nil, err
			}
			return nil, s.overloaded(due, samples, 0)
		}
		s.load, s.taken[e.ID] = load, true
	}
	return batch, nil
}

// cameBack takes back what was counted of a row that certainly did not go, or that nobody took.
func (s *submission) cameBack(e trade.Entry) {
	s.untried(e.Key)
	s.didNotGo(e)
}

// didNotGo takes back countBegun.
func (s *submission) didNotGo(e trade.Entry) {
	if s.job.Spec.Most != nil {
		var f trade.Freight
		f.Add(e)
		s.went = s.went.Less(f)
	}
}

// countBegun counts a POST that was begun.
func (s *submission) countBegun(e trade.Entry) {
	if s.job.Spec.Most != nil {
		s.went.Add(e)
	}
}
