// A de-para that is corrected while a run sends, and what was sent with the ids before.

package discovery

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

const (
	// askTables is how long a run that sends uses the de-para before it looks for a newer one.
	askTables = 2 * time.Second
	// A table of the ERP is read again after readTables, but no more than a twentieth of the time is
	// spent with it.
	readTables  = 5 * time.Second
	tablesShare = 20
)

// tables is what a run knows of the de-para tables.
type tables struct {
	version string        // of those that its evaluator uses
	asked   time.Duration // Boot time at which the version was last asked for
	read    time.Duration // Boot time at which those of the ERP were last read
	took    time.Duration // that reading
	renewed bool          // a newer version came while the run was sending
	// the codes with several ids with which this run has compared what was sent
	compared string
}

// looksUp reports whether the job looks up codes.
func (r *Discoverer) looksUp() bool {
	return len(r.Job.Mapping.Refs)+len(r.Job.Mapping.Lookups) > 0
}

// RenewReferences makes a run that sends use a de-para which has been corrected meanwhile, in the ERP
// or by a person: the recheck maps what goes from then on with it, and what went before is flagged.
func (r *Discoverer) RenewReferences(ctx context.Context) error {
	now := r.Clock.Boot()
	if !r.looksUp() || now-r.tables.asked < askTables {
		return nil
	}
	r.tables.asked = now
	before := r.tables.version
	if now-r.tables.read >= max(readTables, tablesShare*r.tables.took) && slices.ContainsFunc(r.References,
		func(s mapping.ReferenceSpec) bool { return slices.Contains(r.Job.Mapping.Refs, s.Kind) }) {
		notes := len(r.Report.Notes)
		err := r.LoadReferences(ctx)
		r.Report.Notes = r.Report.Notes[:notes] // the first reading has told them
		if err != nil {
			return err
		}
	}
	version, err := r.Ledger.ReferencesVersion(ctx)
	if err != nil {
		return err
	}
	if version != r.tables.version {
		if err := r.makeEvaluator(ctx); err != nil {
			return err
		}
	}
	if r.tables.version == before {
		return nil
	}
	r.tables.renewed = true
	former, mark, err := r.former(ctx)
	if err != nil || mark == r.tables.compared {
		return err
	}
	r.tables.compared = mark
	return r.flagRecoded(ctx, former)
}

// FinishRenewal concludes a renewal, when nothing of the run is in flight: rows that waited are mapped
// again, and what was in flight is compared too. It reports whether rows may have become due.
func (r *Discoverer) FinishRenewal(ctx context.Context) (bool, error) {
	if !r.tables.renewed {
		return false, nil
	}
	r.tables.renewed = false
	if err := r.refresh(ctx); err != nil {
		return false, err
	}
	return true, r.compareRecoded(ctx)
}

// former returns the codes of the job's tables that have another id than before, and a text that
// changes with them; "" if there are none.
func (r *Discoverer) former(ctx context.Context) (former map[string]map[string][]string, mark string, err error) {
	former, err = r.Ledger.FormerReferences(ctx)
	if err != nil {
		return nil, "", err
	}
	maps.DeleteFunc(former, func(kind string, _ map[string][]string) bool {
		return !slices.Contains(r.Job.Mapping.Refs, kind)
	})
	if len(former) > 0 {
		mark = mapping.Fingerprint(former)
	}
	return former, mark, nil
}

// compareRecoded flags what was sent with a former id, if codes have got other ids since that was
// last done. Nothing of the run may be in flight.
func (r *Discoverer) compareRecoded(ctx context.Context) error {
	if r.Dry != nil || len(r.Job.Mapping.Refs) == 0 {
		return nil
	}
	former, mark, err := r.former(ctx)
	if err != nil {
		return err
	}
	cursor, err := r.Ledger.Cursor(ctx, r.Job.Name())
	if err != nil || cursor.References == mark {
		return err
	}
	if err := r.flagRecoded(ctx, former); err != nil {
		return err
	}
	r.tables.compared, cursor.References = mark, mark
	return r.Record(ctx, trade.Page{Cursor: &cursor})
}

// flagRecoded sets or clears the flag recoded of the rows that were sent with an id of a code which
// has had several. Other rows are not read.
func (r *Discoverer) flagRecoded(ctx context.Context, former map[string]map[string][]string) error {
	var ids []string
	for _, codes := range former {
		for _, several := range codes {
			ids = append(ids, several...)
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	return r.Ledger.SentWith(ctx, r.Job.Name(), ids, func(entries []trade.Entry) error {
		var page trade.Page
		for _, old := range entries {
			entry, other := old, r.Eval.SentWithFormerID(&old, former)
			entry.Flags = old.Flags.With(trade.Recoded, other && !old.Acknowledged.Has(trade.Recoded))
			if !other {
				entry.Acknowledged = old.Acknowledged.With(trade.Recoded, false)
			}
			if !slices.Equal(entry.Flags, old.Flags) || !slices.Equal(entry.Acknowledged, old.Acknowledged) {
				entry.UpdatedAt = r.Clock.Now()
				page.Updates = append(page.Updates, trade.Update{From: old.State, Entry: entry})
			}
		}
		r.Observe(run.Progress{Job: r.Job.Name(), Phase: run.Reading, Read: r.Report.Read})
		return r.Record(ctx, page)
	})
}

// reprint computes the newest fingerprints of what was sent again, after the mapping has changed.
// Without this, a record that was sent with another value of a field that counts would not be found
// when its row appears under another key with other cells. If the ledger has only marks of the
// values, the ERP's row is used, provided it is still the one that was sent. A row that cannot be
// sent under the new mapping keeps its fingerprints.
func (r *Discoverer) reprint(ctx context.Context) error {
	if r.Dry != nil {
		return nil
	}
	states := []trade.State{trade.Accepted, trade.InDoubt, trade.Held, trade.Dismissed, trade.Rejected}
	return r.stalePages(ctx, states, func(sent []trade.Entry) error {
		values := trade.Map(sent, trade.Entry.NewestValues)
		known, err := r.ParentsOf(ctx, values)
		if err != nil {
			return err
		}
		var changed, unread []trade.Entry
		printed := func(e trade.Entry, values trade.Values, known mapping.Parents) bool {
			e.Newest = r.printsOf(values, e.SourceHash, known)
			if e.Newest.Known() {
				changed = append(changed, e)
			}
			return e.Newest.Known()
		}
		for i, e := range sent {
			if e.Flags.Has(trade.Replaced) {
				continue // its key has the row of another record
			}
			if !printed(e, values[i], known) {
				unread = append(unread, e)
			}
		}
		found, err := r.ReadAgain(ctx, r.Job, unread)
		if err != nil {
			return err
		}
		known, err = r.ParentsOf(ctx, mapping.ValuesOfRows(found))
		if err != nil {
			return err
		}
		for _, e := range unread {
			if c := mapping.Choose(found[e.Key]); c.Living == 1 && len(e.Values) > 0 &&
				!r.Eval.Differs(e.Key, e.NewestValues(), c.Row.Values()) {
				printed(e, c.Row.Values(), known)
			}
		}
		// it may take minutes
		r.Observe(run.Progress{Job: r.Job.Name(), Phase: run.Reading, Read: r.Report.Read})
		return r.Ledger.Reprint(ctx, r.Lease, changed)
	})
}
