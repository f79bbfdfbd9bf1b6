// A reading that a person orders of some rows, or of all.

package discovery

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// Resync asks a pass to read again, and to judge again with the mapping of today, also rows in
// which nothing has changed. What was sent, or may have been, is compared and never touched. The
// zero value asks for all rows; otherwise for those that fulfil every condition.
type Resync struct {
	Since  time.Time     // changed in the ERP on this day or later, by changed_at; rows without a time are among them
	Keys   []string      // with these keys
	States []trade.State // whose entry is in one of these states
}

// all tells whether every row is asked for: then it is a sweep.
func (s Resync) all() bool { return s.Since.IsZero() && s.Keys == nil && len(s.States) == 0 }

// selection chooses the rows of a partial resync as they are read.
type selection struct {
	job   *mapping.Job
	since string          // digits of the day; "" = any
	keys  map[string]bool // true: found; nil = any
}

// selection makes the chooser of a partial resync.
func (r *Discoverer) selection(ctx context.Context, s Resync) (*selection, error) {
	out := &selection{job: r.Run.Job}
	if !s.Since.IsZero() {
		if r.Run.Job.Spec.ChangedAt == "" {
			return nil, fmt.Errorf("job %s has no changed_at: leave --since out, and all rows are read again",
				r.Run.Job.Name())
		}
		// A day early: zones differ, and to read more costs nothing.
		out.since = s.Since.AddDate(0, 0, -1).Format("20060102")
	}
	if s.Keys != nil {
		out.keys = map[string]bool{}
		for _, key := range s.Keys {
			out.keys[key] = false
		}
	}
	if len(s.States) == 0 {
		return out, nil
	}
	inState := map[string]bool{}
	err := r.Run.Ledger.EachKnown(ctx, r.Run.Job.Name(), func(k trade.Known) error {
		if _, asked := out.keys[k.Key]; slices.Contains(s.States, k.State) && (out.keys == nil || asked) {
			inState[k.Key] = false
		}
		return nil
	})
	out.keys = inState
	return out, err
}

// wants tells whether a row is asked for, and notes that it is there.
func (s *selection) wants(key string, row erp.Row) bool {
	if s.keys != nil {
		if _, asked := s.keys[key]; !asked {
			return false
		}
		s.keys[key] = true
	}
	if s.since == "" {
		return true
	}
	v, _ := row.Get(s.job.Spec.ChangedAt)
	digits := strings.Map(func(c rune) rune {
		if c < '0' || c > '9' {
			return -1
		}
		return c
	}, v.Text)
	return v.Kind == erp.Null || len(digits) < len(s.since) || digits[:len(s.since)] >= s.since
}

// missed gives the keys that were asked for and that the query does not return, sorted.
func (s *selection) missed() []string {
	var out []string
	for key, found := range s.keys {
		if !found {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

// resync reads the rows that a partial resync asks for. It proves nothing of the others: no mark of
// the reading moves, and nothing is taken for gone.
func (r *Discoverer) resync(ctx context.Context, s Resync) error {
	chosen, err := r.selection(ctx, s)
	if err != nil {
		return err
	}
	p := newPager(r)
	p.chosen, p.anew = chosen, true
	if _, err := p.read(ctx, erp.Window{}); err != nil {
		return err
	}
	if missed := chosen.missed(); len(missed) > 0 {
		r.Run.Note("%d keys that were asked for are not in the job's query: %s", len(missed),
			strings.Join(missed[:min(5, len(missed))], ", "))
	}
	if err := r.settleDoubles(ctx, p); err != nil {
		return err
	}
	if err := r.markReplaced(ctx); err != nil {
		return err
	}
	return r.settleRetyped(ctx)
}
