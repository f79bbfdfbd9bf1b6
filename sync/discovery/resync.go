// A resync: a person orders that some rows, or all, are judged again.

package discovery

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// Resync asks a pass to read rows again and to judge them with the present mapping, even if nothing
// has changed in them. What was sent, or may have been, is compared and never changed. The zero
// value asks for all rows; otherwise a row must meet every condition.
type Resync struct {
	Since  time.Time     // changed in the ERP on this day or later (changed_at), or without a time
	Until  time.Time     // changed in the ERP on this day or earlier, or without a time
	Keys   []string      // with these keys
	States []trade.State // whose entry has one of these states
}

// selection selects the rows of a partial resync as they are read.
type selection struct {
	job   *mapping.Job
	since string          // digits of the day; "" = any
	until string          // digits of the last day; "" = any
	keys  map[string]bool // value: whether the row was found; nil = any key
}

// selection returns the selection of a partial resync.
func (r *Discoverer) selection(ctx context.Context, s Resync) (*selection, error) {
	out := &selection{job: r.Job}
	if (!s.Since.IsZero() || !s.Until.IsZero()) && r.Job.Spec.ChangedAt == "" {
		return nil, phrase.Errorf("job %s has no changed_at: leave --since out, and all rows are read again",
			r.Job.Name())
	}
	// A day early and late, because time zones differ; reading too many rows does no harm.
	if !s.Since.IsZero() {
		out.since = s.Since.AddDate(0, 0, -1).Format("20060102")
	}
	if !s.Until.IsZero() {
		out.until = s.Until.AddDate(0, 0, 1).Format("20060102")
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
	err := r.Ledger.EachKnown(ctx, r.Job.Name(), func(k trade.Known) error {
		if _, asked := out.keys[k.Key]; slices.Contains(s.States, k.State) && (out.keys == nil || asked) {
			inState[k.Key] = false
		}
		return nil
	})
	out.keys = inState
	return out, err
}

// wants reports whether a row is asked for, and notes that its key was found.
func (s *selection) wants(row *mapping.Row) bool {
	if s.keys != nil {
		if _, asked := s.keys[row.Key]; !asked {
			return false
		}
		s.keys[row.Key] = true
	}
	if s.since == "" && s.until == "" {
		return true
	}
	v, _ := row.Get(s.job.Spec.ChangedAt)
	digits := strings.Map(func(c rune) rune {
		if c < '0' || c > '9' {
			return -1
		}
		return c
	}, v.Text)
	const day = len("20060102")
	return v.Kind == erp.Null || len(digits) < day ||
		digits[:day] >= s.since && (s.until == "" || digits[:day] <= s.until)
}

// namedMost is how many rows are read by their keys. More are found sooner by reading the whole query.
const namedMost = 2000

// resync reads the rows that a partial resync asks for. It proves nothing about the others: the
// cursor does not move, and no row is taken for gone.
func (r *Discoverer) resync(ctx context.Context, s Resync, cursor *trade.Cursor) error {
	chosen, err := r.selection(ctx, s)
	if err != nil {
		return err
	}
	p := newPager(r)
	p.chosen, p.judgeAll = chosen, true
	var named []trade.Entry
	if len(s.Keys) > 0 && len(s.Keys) <= namedMost {
		named, err = r.EntriesOf(ctx, r.Job.Name(), s.Keys)
	}
	switch unread := func(e trade.Entry) bool { return len(r.Job.Spellings(&e)) == 0 }; {
	case err != nil:
	case len(named) < max(1, len(s.Keys)) || slices.ContainsFunc(named, unread):
		_, err = p.read(ctx, erp.Window{})
	default:
		err = p.readAgain(ctx, named)
	}
	if err != nil {
		return err
	}
	var missed []string
	for key, found := range chosen.keys {
		if !found {
			missed = append(missed, key)
		}
	}
	slices.Sort(missed)
	if len(missed) > 0 {
		r.Note(trade.Say("note.not_in_query", "count", len(missed), "keys", missed[:min(5, len(missed))]))
	}
	return r.settleRead(ctx, p, cursor)
}
