package alert

import (
	"context"
	"slices"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// runMemory holds the results of a job's last runs. After a start it is read from the ledger again.
// A zero field is not known.
type runMemory struct {
	good      time.Time        // end of the last run that did its work
	swept     *trade.RunReport // the last complete sweep
	stopped   *trade.RunReport // the last one with a stop that only a person ends
	overruled time.Time        // end of the last run with a late answer that ended a person's decision
	answers   int              // number of such answers in that run
}

// remembered is how far back runs are read after a start. overlap is how much consecutive readings
// overlap, because a run is stored a moment after its end.
const (
	remembered = 48 * time.Hour
	overlap    = 5 * time.Minute
)

// follow reads the runs that ended since the last call, including those of other processes.
func (s *Service) follow(ctx context.Context, now time.Time) error {
	from := now.Add(-remembered)
	if s.runs != nil && s.followed.After(from) {
		from = s.followed.Add(-overlap)
	}
	runs := map[string]runMemory{}
	for job, m := range s.runs {
		runs[job] = m
	}
	err := s.Ledger.RunsEnded(ctx, from, now.Add(overlap), func(r trade.RunReport) error {
		m := runs[r.Job]
		m.add(r)
		runs[r.Job] = m
		return nil
	})
	if err != nil {
		return err
	}
	s.runs, s.followed = runs, now
	return nil
}

func (m *runMemory) add(r trade.RunReport) {
	if r.Stopped == nil {
		m.good = r.EndedAt.Time
	} else if slices.Contains(endedByPerson, r.Stopped.Code) {
		m.stopped = &r
	}
	if r.Sweep && r.InScope != nil && r.Stopped == nil {
		m.swept = &r
	}
	n := 0
	for _, a := range r.Alarms {
		if a.Kind == trade.LateAfterDismissal || a.Kind == trade.LateBeforeResend {
			n++
		}
	}
	if n > 0 {
		m.overruled, m.answers = r.EndedAt.Time, n
	}
}
