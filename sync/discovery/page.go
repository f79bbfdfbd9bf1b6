// A reading changes a known row: pages of rows are compared with the ledger, mapped, and recorded
// while the next page is read.

package discovery

import (
	"context"
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// pager collects rows into pages and records each while the next one is read, so that neither the
// ERP nor the disk waits for the other.
type pager struct {
	run  *Discoverer
	rows []mapping.Row
	seen *seenKeys // the keys that were read; in a sweep also those of the ledger
	// id of the last entry that the ledger had before this reading, not counting those of a braked
	// sweep
	newest    int64
	doubles   map[string]*double      // keys that occur more than once
	revived   map[string][]trade.Cell // keys that were held as double: decided after the reading
	notLiving extraRows               // in a sweep: rows that are not living documents
	// in a sweep: the rows that were read first under keys whose entries do not have their values
	unstoredValues map[string]trade.Values
	cancelChanges  []turn         // outside of a sweep: rows that were sent and are cancelled now, or no longer
	badKeys        int            // rows whose key was read but is not valid
	chosen         *selection     // in a partial resync; nil: every row
	judgeAll       bool           // judge rows even if nothing has changed
	storing        *run.Recording // the page that is being stored; nil: none
}

func newPager(r *Discoverer) *pager {
	return &pager{
		run: r, seen: newSeenKeys(0), doubles: map[string]*double{}, revived: map[string][]trade.Cell{},
		unstoredValues: map[string]trade.Values{},
	}
}

// add takes one row; when the page is full, it is recorded.
func (p *pager) add(ctx context.Context, read erp.Row) error {
	r := p.run
	r.Report.Read++
	row, err := r.Job.Row(read)
	if err != nil {
		if errors.Is(err, mapping.ErrKeyForm) {
			p.badKeys++
		}
		r.Report.Unreadable++
		if r.Report.Unreadable <= 3 {
			r.Note(trade.Say("note.no_key", "row", r.Report.Read, "cause", err))
		}
		if p.notLiving != nil {
			parts := make([]string, len(p.run.Job.Spec.Key))
			for i, column := range p.run.Job.Spec.Key {
				parts[i] = "NULL"
				if v, ok := row.Get(column); ok && v.Kind != 0 {
					parts[i] = mapping.PlainText(v)
				}
			}
			p.leave(trade.BesideNoKey, strings.Join(parts, "|"), &row)
		}
		return nil
	}
	if p.chosen != nil && !p.chosen.wants(&row) {
		return nil
	}
	if row.Cancelled && p.notLiving != nil {
		p.leave(trade.BesideCancelled, row.Key, &row)
	}
	switch p.seen.observe(&row, p.judgeAll) {
	case again:
		p.addDouble(&row)
		return nil
	case asItWas:
		r.Report.Unchanged++
		if r.Report.Unchanged%run.PageSize == 0 {
			r.Observe(run.Progress{Job: r.Job.Name(), Phase: run.Reading, Read: r.Report.Read})
		}
		return nil
	}
	p.rows = append(p.rows, row)
	if len(p.rows) < run.PageSize {
		return nil
	}
	return p.flush(ctx)
}

// readAgain reads the rows of entries by their keys and records them.
func (p *pager) readAgain(ctx context.Context, entries []trade.Entry) error {
	rows, err := p.run.ReadByKeys(ctx, p.run.Job, entries)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if err := p.add(ctx, row); err != nil {
			return errors.Join(err, p.stored())
		}
	}
	return errors.Join(p.flush(ctx), p.stored())
}

// read reads the ERP and records its rows. When it returns, no page is being stored any more;
// without an error all are stored.
func (p *pager) read(ctx context.Context, window erp.Window) (erp.Result, error) {
	result, err := p.run.Source.Read(ctx, p.run.Job.Query, window,
		func(read erp.Row) error { return p.add(ctx, read) })
	if err == nil {
		err = p.flush(ctx)
	}
	// a fault of the ledger stops more jobs than one of the ERP
	if stored := p.stored(); stored != nil {
		err = stored
	}
	return result, err
}

// stored waits for the page that is being stored, and returns its error.
func (p *pager) stored() error {
	w := p.storing
	p.storing = nil
	return w.Wait()
}

// flush begins to record the rows collected so far, after the previous page was stored.
func (p *pager) flush(ctx context.Context) error {
	if len(p.rows) == 0 {
		return nil
	}
	r := p.run
	// the ledger must have the earlier page before it is asked about the same keys
	if slices.ContainsFunc(p.rows, func(row mapping.Row) bool { return p.storing.Has(row.Key) }) {
		if err := p.stored(); err != nil {
			return err
		}
	}
	keys := trade.Map(p.rows, func(row mapping.Row) string { return row.Key })
	known, err := r.Ledger.Known(ctx, r.Job.Name(), keys)
	if err != nil {
		return err
	}
	fresh, changed := p.sort(known)
	if !ordered.MatchString(r.Job.Spec.Query) {
		slices.SortFunc(fresh, func(a, b mapping.Row) int { return trade.CompareCodes(a.Key, b.Key) })
	}
	p.rows = p.rows[:0]
	var page trade.Page
	values := trade.Map(fresh, func(row mapping.Row) trade.Values { return row.Values() })
	parents, err := r.ParentsOf(ctx, values)
	if err != nil {
		return err
	}
	page.New = make([]trade.Entry, 0, len(fresh))
	for i, row := range fresh {
		entry := trade.Entry{
			Job: r.Job.Name(), Sends: r.Job.Spec.Sends, Key: row.Key, KeyParts: row.Parts(), Generation: 1,
			FirstSeenAt: r.Now, UpdatedAt: r.Now, SourceHash: row.SourceHash,
			Shown: row.Shown,
		}
		row.AddFacts(&entry.Facts)
		r.Eval.Evaluate(&entry, values[i], parents)
		r.Report.New++
		r.countLate(&row)
		page.New = append(page.New, entry)
	}
	if err := p.applyChanges(ctx, &page, changed); err != nil {
		return err
	}
	if err := p.stored(); err != nil {
		return err
	}
	r.Observe(run.Progress{Job: r.Job.Name(), Phase: run.Reading, Read: r.Report.Read})
	if run.Empty(page) {
		return nil
	}
	p.storing, err = r.BeginRecord(ctx, page)
	if err != nil {
		return err
	}
	if r.Dry != nil { // a dry run's ledger is not safe for concurrent use
		return p.stored()
	}
	p.storing.Keys = make(map[string]bool, len(keys))
	for _, key := range keys {
		p.storing.Keys[key] = true
	}
	return nil
}

// ordered matches a query that has an order. Which of two equal rows is the first is decided by it, or
// else by the key, so that a dry run and a run agree.
var ordered = regexp.MustCompile(`(?i)\border\s+by\b`)

// sort returns the rows whose keys are new, and those that differ from what the ledger knows. It
// counts the others, and collects those that are decided at the end of the reading.
func (p *pager) sort(known map[string]trade.Known) (fresh []mapping.Row, changed []change) {
	r := p.run
	for _, row := range p.rows {
		k, ok := known[row.Key]
		var entry *trade.Known
		if ok {
			entry = &k
		}
		// A cancelled row beside a living one of the same key is its past, as soft deletes leave it. If
		// the living row comes on a later page, it undoes what the cancelled one caused.
		if p.seen.judged(&row, entry) == again {
			if !row.Cancelled {
				p.addDouble(&row)
			}
			continue
		}
		if !ok {
			if !row.Cancelled {
				fresh = append(fresh, row)
			}
			continue
		}
		if p.judgeAll {
			k.MappedWith = ""
		}
		verdict := decideRow(&k, row.SourceHash, r.Eval.MappedWith, row.Cancelled)
		// A redraw never sends, maps or flags anything. A row that is being sent is left to its owner.
		if (verdict == same || verdict == leave) && k.State != trade.Sending && k.ShownMark != row.Shown.Mark {
			verdict = redraw
		}
		kept := verdict == leave || verdict == redraw || verdict == revive
		if kept && p.notLiving != nil && !row.Cancelled && k.SourceHash != row.SourceHash {
			p.unstoredValues[row.Key] = row.Values()
		}
		switch verdict {
		case cancel:
			p.seen.countKey(row.Key, entry) // its entry counts as found, not gone
		case revive:
			p.revived[row.Key] = row.Parts()
			continue
		}
		told := verdict == cancel && (k.Flags.Has(trade.Cancelled) || k.Acknowledged.Has(trade.Cancelled)) &&
			!k.Flags.Has(trade.MissingInERP) && k.GoneSweeps == 0
		if verdict == same || verdict == leave || verdict == absentee || told {
			r.Report.Unchanged++
			continue
		}
		changed = append(changed, change{known: k, row: row, verdict: verdict})
	}
	return fresh, changed
}

// change is a row that differs from what is known of it.
type change struct {
	known   trade.Known
	row     mapping.Row
	verdict rowAction
}

// applyChanges adds the updates of known rows that differ to the page.
func (p *pager) applyChanges(ctx context.Context, page *trade.Page, changed []change) error {
	if len(changed) == 0 {
		return nil
	}
	r := p.run
	ids := make([]int64, len(changed))
	byID := make(map[int64]change, len(changed))
	values := make([]trade.Values, len(changed))
	for i, c := range changed {
		values[i] = c.row.Values()
		ids[i], byID[c.known.ID] = c.known.ID, c
	}
	known, err := r.ParentsOf(ctx, values)
	if err != nil {
		return err
	}
	entries, err := r.Ledger.Entries(ctx, ids)
	if err != nil {
		return err
	}
	// keys that stand twice in the ERP, where a window may show one of their rows only; a sweep reads all
	if p.notLiving == nil {
		var asked []trade.Entry
		for _, e := range entries {
			if c := byID[e.ID]; (c.verdict == compare || c.verdict == remap) && c.row.SourceHash != e.SourceHash {
				e.KeyParts = slices.Concat(e.KeyParts, c.row.Parts())
				asked = append(asked, e)
			}
		}
		rows, err := p.run.ReadAgain(ctx, p.run.Job, asked)
		if err != nil {
			return err
		}
		for key, rows := range rows {
			if n := len(mapping.Living(rows)); n > 1 && p.doubles[key] == nil {
				p.doubles[key] = &double{rows: n}
			}
		}
	}
	for _, old := range entries {
		c := byID[old.ID]
		if p.doubles[old.Key] != nil && p.notLiving == nil {
			r.Report.Unchanged++
			continue // decided at the end of the reading
		}
		if old.Version != c.known.Version {
			continue // it changed since it was looked up; the next run reads the row again
		}
		if c.verdict == remap && old.Weak() && len(old.Values) > 0 && old.SourceHash == c.row.SourceHash &&
			old.GoneSweeps == 0 && !old.Flags.Has(trade.Cancelled) && old.Shown.Mark == c.row.Shown.Mark &&
			old.MappedWith == r.Eval.MappedWith {
			r.Report.Unchanged++
			continue // only its flag is read as a change
		}
		entry := r.apply(old, c, known)
		if !p.judgeAll && c.verdict == compare && old.MappedWith != "" && old.SourceHash == entry.SourceHash &&
			old.Shown.Mark == entry.Shown.Mark && old.Flags.Has(trade.Changed) && entry.Flags.Has(trade.Changed) {
			r.Report.Unchanged++
			continue // it still differs from what was sent, by the same content
		}
		if was, is := cancelledNow(old), cancelledNow(entry); was != is && p.notLiving == nil {
			p.cancelChanges = append(p.cancelChanges, turn{old, c.row.Values(), is})
		}
		if c.known.SourceHash != c.row.SourceHash {
			r.Report.Changed++
			r.countLate(&c.row)
		} else {
			r.Report.Unchanged++
		}
		if entry.Flags.Has(trade.Changed) && old.SourceHash != entry.SourceHash {
			r.differ[old.ID] = before{old.SourceHash, entry.Flags.Has(trade.Replaced)}
			// cleared at the end of the reading if it is not true; after a crash it stays, which is
			// safe
			entry.Flags = entry.Flags.With(trade.Replaced, true)
		}
		page.Updates = append(page.Updates, trade.Update{From: old.State, Entry: entry})
	}
	return nil
}

// apply returns the new version of one known entry.
func (r *Discoverer) apply(old trade.Entry, c change, known mapping.Parents) trade.Entry {
	entry, values := old, c.row.Values()
	verdict, weak := c.verdict, old.Weak() && len(old.Values) > 0
	if verdict == remap && weak {
		verdict = compare // what was sent may exist, so the ledger keeps it beside the row
	}
	switch verdict {
	case remap:
		entry = r.Eval.RemapRow(old, &c.row, known)
	case compare:
		if old.MappedWith == "" && !weak {
			// It was rebuilt from the journal, which has only the hashes of what was sent. If the row is
			// still the one that was sent, its values are filled in. Otherwise what was sent stays unknown,
			// and the row's present values are stored beside it (Now).
			fresh := r.Eval.Would(entry, values, known)
			entry.Quantity, entry.Facts = fresh.Quantity, fresh.Facts
			samePayload := fresh.PayloadHash != "" && fresh.PayloadHash == entry.PayloadHash
			// else the hash is that of a changed row
			asItWas := entry.Now == nil && !entry.Flags.Has(trade.Changed)
			same := samePayload || asItWas && c.row.SourceHash == entry.SourceHash
			entry.Flags = entry.Flags.With(trade.Changed, !same).With(trade.Cancelled, false)
			entry.SourceHash, entry.Now = c.row.SourceHash, nil
			if !same {
				entry.Now = fresh.Values
				break
			}
			entry.Flags = entry.Flags.With(trade.Replaced, false)
			entry.Values, entry.MappedWith = fresh.Values, fresh.MappedWith
			entry.Newest = trade.PrintsOf(fresh.Sends, c.row.SourceHash, fresh.Target, fresh.Payload)
			if samePayload {
				entry.TakePayload(fresh)
			} else if fresh.Content != 0 {
				// that of the same row under the present mapping, as in renumber
				entry.Content = fresh.Content
			}
			break
		}
		r.Eval.Compare(&entry, values, known)
		// else markReplaced decides whose it is
		if old.SourceHash == c.row.SourceHash && !old.Flags.Has(trade.Replaced) || !entry.Flags.Has(trade.Changed) {
			entry.Newest = r.printsOf(values, c.row.SourceHash, known)
		}
		entry.SourceHash = c.row.SourceHash
		r.Eval.Measure(&entry, values)
		// a complete sweep did not find the row, and another one came back under its key
		changed := entry.Flags.Has(trade.Changed)
		if !changed || old.GoneSweeps > 0 || old.Flags.Has(trade.MissingInERP) ||
			old.Acknowledged.Has(trade.MissingInERP) {
			entry.Flags = entry.Flags.With(trade.Replaced, changed)
		}
		entry.Flags, entry.Acknowledged = entry.Flags.With(trade.Cancelled, false),
			entry.Acknowledged.With(trade.Cancelled, false)
	case cancel:
		entry.Flags = entry.Flags.With(trade.Cancelled, !entry.Acknowledged.Has(trade.Cancelled))
	case seen:
		if !entry.Flags.Has(trade.Changed) { // its own row is back
			entry.Flags = entry.Flags.With(trade.Replaced, false)
		}
		entry.Flags, entry.Acknowledged = entry.Flags.With(trade.Cancelled, false),
			entry.Acknowledged.With(trade.Cancelled, false)
	}
	if c.verdict != cancel && old.MovedID != "" &&
		(old.GoneSweeps > 0 || old.Acknowledged.Has(trade.MissingInERP) || old.Acknowledged.Has(trade.Cancelled)) {
		// its record was moved to another key, and now its row is back
		entry.Flags = entry.Flags.With(trade.Contradicted, true)
	}
	entry.KeyParts, entry.Shown, entry.GoneSweeps = c.row.Parts(), c.row.Shown, 0
	c.row.AddFacts(&entry.Facts)
	entry.Flags, entry.Acknowledged = entry.Flags.With(trade.MissingInERP, false),
		entry.Acknowledged.With(trade.MissingInERP, false)
	r.touch(&entry, old)
	return entry
}

// rowAction is what discovery does with a row of the ERP.
type rowAction int

const (
	same  rowAction = iota // nothing relevant has changed
	seen                   // found again: only the marks of absence are removed
	remap                  // map and check it again
	// it was sent, or may have been, or a person dismissed it: find out whether it differs now
	compare
	cancel   // it was sent, or may have been, and is cancelled now
	revive   // its double key or its absence may be cured: decided at the end of the reading
	leave    // only a person can change it
	absentee // cancelled and never sent: counts as gone
	redraw   // only the displayed columns changed: nothing else of the entry changes
)

// decideRow returns what to do with a row of the ERP, given what the ledger knows of its key.
func decideRow(known *trade.Known, hash trade.Hash, mappedWith string, cancelled bool) rowAction {
	switch {
	case known.State == trade.Sending:
		return leave // its owner decides; the next run compares
	case known.State.MayBeOnPlatform():
		switch {
		case cancelled:
			return cancel
		// an entry that was rebuilt from the journal has no values and no MappedWith
		case known.SourceHash != hash, known.MappedWith == "":
			return compare
		case known.Flags.Has(trade.Cancelled), known.Flags.Has(trade.MissingInERP), known.GoneSweeps > 0,
			known.Acknowledged.Has(trade.Cancelled),
			known.Acknowledged.Has(trade.MissingInERP), known.Flags.Has(trade.Replaced) &&
				!known.Flags.Has(trade.Changed):
			return seen
		// its parent may have got the record that was sent
		case known.Flags.Has(trade.Changed) && !known.Flags.Has(trade.Replaced):
			return compare
		}
		return same
	case cancelled:
		return absentee
	case (known.State == trade.Dismissed || known.State == trade.Held && known.Cause == trade.CauseExists) &&
		(known.SourceHash != hash || known.MappedWith == ""):
		return compare // people are shown that it is another row than the one that was decided about
	case known.State == trade.Held && known.Cause == trade.CauseTwin && known.MappedWith != mappedWith,
		// rebuilt from the journal, without its values and amount
		known.State == trade.Held && known.MappedWith == "" &&
			(known.Cause == trade.CauseRetyped || known.Cause == trade.CauseOtherJob),
		known.State == trade.Held && (known.Cause == trade.CauseRetyped || known.Cause == trade.CauseTwin ||
			known.Cause == trade.CauseOtherJob) &&
			(known.SourceHash != hash || known.Flags.Has(trade.Changed) || known.Acknowledged.Has(trade.Changed)):
		// The key has another row now. It stays held, with what it would send now, until it is judged.
		return remap
	case known.State == trade.Dismissed, known.State == trade.Held && known.Cause != trade.CauseDuplicateKey &&
		known.Cause != trade.CauseVanished:
		if known.GoneSweeps > 0 {
			return seen
		}
		return leave
	case known.State == trade.Held && known.Cause == trade.CauseDuplicateKey:
		return revive
	case known.State == trade.Held, known.State == trade.Withdrawn, known.SourceHash != hash,
		known.MappedWith != mappedWith,
		// it was in doubt while the ERP changed it, and then refused: the ledger has what was sent
		known.Flags.Has(trade.Changed):
		return remap
	case known.GoneSweeps > 0:
		return seen
	}
	return same
}

// touch sets the time of the last change, if people would see one: a row that was only judged again
// keeps its time. It is that of the discovery: the start of a long run may be before the row was sent.
func (r *Discoverer) touch(entry *trade.Entry, old trade.Entry) {
	if entry.State != old.State || entry.Cause != old.Cause || entry.SourceHash != old.SourceHash ||
		entry.PayloadHash != old.PayloadHash ||
		!slices.Equal(entry.Flags, old.Flags) || !slices.Equal(entry.WaitingFor, old.WaitingFor) ||
		!reflect.DeepEqual(entry.Error, old.Error) || !reflect.DeepEqual(entry.Now, old.Now) {
		entry.UpdatedAt = r.Clock.Now()
	}
}
