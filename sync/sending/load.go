// How much a run has taken on and sent, for `most:`.

package sending

import (
	"context"
	"maps"

	"github.com/safrasync/safrasync/trade"
)

// fitting returns the beginning of a batch that still fits into the run's limit. It also checks
// rows that become due during the run. If not even the first row fits, the run is braked; what was
// sent by then stays sent.
func (s *Sender) fitting(ctx context.Context, batch []trade.Entry) ([]trade.Entry, error) {
	if s.Job.Spec.Most == nil {
		return batch, nil
	}
	if s.Load.rows == nil {
		s.Load.rows = map[int64]bool{}
	}
	for i, e := range batch {
		load := s.Load.taken
		load.Value = maps.Clone(load.Value)
		if !s.Load.rows[e.ID] { // counted already if it came back unsent
			load.Add(e)
		}
		if !load.Within(s.brakes.Room) {
			if i > 0 {
				s.queue.after = batch[i-1].ID
				return batch[:i], nil
			}
			due, samples, err := s.brakes.DueFreight(ctx)
			if err != nil {
				return nil, err
			}
			return nil, s.brakes.Overloaded(due, samples, 0)
		}
		s.Load.taken, s.Load.rows[e.ID] = load, true
	}
	return batch, nil
}

// load is what a run takes on and begins to send, under `most:`.
type load struct {
	taken trade.Freight
	rows  map[int64]bool // the entries of taken
	Went  trade.Freight  // what was begun
}
