// Content that was sent under another key, or by another job.

package recheck

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// What is the same? Content that was sent, or is in doubt, is not sent again under another key
// unless the ERP has one more row with it: for each content there are never more records than rows
// that existed at the same time. The key under which it was sent proves nothing: another row may
// have that key by now.

// SentRow is an entry that has, or may have, a record, and the rows that the ERP has under its key
// now.
type SentRow struct {
	trade.SentContent
	Now []wouldSend
}

// wouldSend is what a row of the ERP would send now.
type wouldSend struct {
	job    string
	source trade.Hash
	number int64 // content number; 0 if it could not be sent

	cancelled bool
}

// is reports whether the row would send what an entry sends.
func (c wouldSend) is(e trade.Entry) bool {
	return run.SameContent(c.number, e.Content) || c.job == e.Job && c.source == e.SourceHash
}

// Stands reports whether the ERP has a row with the content of e under the key.
func (s SentRow) Stands(e trade.Entry) bool {
	for _, c := range s.Now {
		if c.is(e) {
			return true
		}
	}
	return false
}

// Sent reports whether the record has the content of e.
func (s SentRow) Sent(e trade.Entry) bool {
	return e.Content != 0 && slices.Contains(s.Contents, e.Content)
}

// Likeness is how the sent rows with the content of a row relate to it.
type Likeness struct {
	twin  bool       // another living row sends exactly the same
	Other bool       // another job has a living row with this content, or the same columns
	Moved *SentRow   // the record of this row, whose own key has lost it; nil: none
	left  []*SentRow // all records of this content whose key has no such row
}

// text returns the reason why a row is held whose content was sent under another key.
func (l Likeness) text() string {
	id, what := "", "is no longer in the ERP"
	if l.Moved.Entry.RemoteID != "" {
		id = " with the id " + l.Moved.Entry.RemoteID
	}
	if len(l.Moved.Now) > 0 {
		what = "has another row in the ERP now"
	}
	return fmt.Sprintf("the same content went out under key %s%s, which %s: a record that was re-typed or renumbered "+
		"must not go twice", l.Moved.Entry.Key, id, what)
}

// LikenessOf compares a row with those that were sent. The row is a new one if other keys have at
// least as many rows with its content as there are records of it, and none of these keys has lost
// the content.
func LikenessOf(e trade.Entry, others []SentRow) Likeness {
	var out Likeness
	var without *SentRow // sent with this content, or had this row; its key has lost it
	records, rows, lost := 0, 0, false
	for i := range others {
		o := &others[i]
		// its record belongs to another job: typed again, it is still the same row
		if o.Entry.State == trade.Held && o.Entry.Cause == trade.CauseOtherJob {
			if o.Entry.ID != e.ID && (o.Entry.SourceHash == e.SourceHash ||
				run.SameContent(o.Entry.Content, e.Content)) && !o.Stands(e) {
				lost, without = true, cmp.Or(without, o)
			}
			continue
		}
		// Jobs that read the same columns may make different records of them. The row of another
		// job was this row only if it is not there any more.
		sent, newest := o.Sent(e), o.Entry.SourceHash == e.SourceHash && (o.Entry.Job == e.Job || !o.Stands(o.Entry))
		out.Other = out.Other || o.Entry.Job != e.Job && o.Entry.SourceHash == e.SourceHash && o.Stands(o.Entry)
		if o.Entry.ID == e.ID || !sent && !newest && !o.Stands(e) {
			continue
		}
		if sent {
			records++
		}
		if o.Stands(e) {
			rows++
			out.twin = out.twin || o.Entry.PayloadHash == e.PayloadHash || newest
			out.Other = out.Other || o.Entry.Job != e.Job
			continue
		}
		if sent {
			out.left = append(out.left, o)
		}
		lost = lost || newest && o.Entry.MovedID == ""
		if without == nil || sent && !without.Sent(e) {
			without = o
		}
	}
	if rows < records || lost {
		out.Moved = without
	}
	return out
}

// FindSent returns what was sent, or may have been, with the content of some entries. storing are
// intents that are being stored, which the ledger may not have yet.
func (r *Checker) FindSent(ctx context.Context, entries, storing []trade.Entry) ([]SentRow, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	contents, sources := make([]int64, len(entries)), make([]trade.Hash, len(entries))
	for i, e := range entries {
		contents[i], sources[i] = e.Content, e.SourceHash
	}
	found, err := r.run.Ledger.SameContent(ctx, r.run.Job.Spec.Sends, contents, sources)
	if err != nil {
		return nil, err
	}
	out := make([]SentRow, 0, len(found)+len(storing))
	known := map[int64]bool{}
	for _, f := range found {
		out, known[f.Entry.ID] = append(out, SentRow{SentContent: f}), true
	}
	for _, e := range storing {
		if !known[e.ID] {
			out = append(out, SentRow{SentContent: trade.SentContent{Entry: e, Contents: []int64{e.Content}}})
		}
	}
	return out, nil
}

// ReadSent reads the rows that the ERP has under the keys of sent rows, into Now. rows are those of
// this run's job that were read already, by key; nil if none were. Keys of a job that is no longer
// configured count as having no row. stand selects the rows that count.
func (r *Checker) ReadSent(ctx context.Context, sent []SentRow, rows map[string][]erp.Row,
	stand func(*mapping.Job, []erp.Row) []erp.Row,
) error {
	for _, job := range r.run.Env.Jobs {
		var mine []*SentRow
		var entries []trade.Entry
		for i := range sent {
			if s := &sent[i]; s.Entry.Job == job.Name() {
				mine, entries = append(mine, s), append(entries, s.Entry)
				s.Now = nil
			}
		}
		if len(mine) == 0 {
			continue
		}
		byKey := rows
		if job != r.run.Job || rows == nil {
			read, err := r.run.ReadAgain(ctx, job, entries)
			if err != nil {
				return err
			}
			byKey = run.ByKeyOf(job, read)
		}
		eval := *r.run.Eval
		eval.Job = job
		var values []trade.Values
		for _, e := range entries {
			for _, row := range byKey[e.Key] {
				values = append(values, job.Values(row.Get))
			}
		}
		known, err := r.run.ParentsFor(ctx, job, values)
		if err != nil {
			return err
		}
		for _, s := range mine {
			for _, row := range stand(job, byKey[s.Entry.Key]) {
				would := trade.Entry{Job: job.Name(), Key: s.Entry.Key}
				eval.Evaluate(&would, job.Values(row.Get), known)
				s.Now = append(s.Now, wouldSend{
					job.Name(), job.SourceHash(row.Get), would.Content,
					job.IsCancelled(row.Get),
				})
			}
		}
	}
	return nil
}

// holdMoved holds rows whose content was sent under another key, and flags rows that are sent
// beside an equal one. It also flags the entries whose rows are elsewhere now: nothing more goes
// under their records until a person has decided.
func (r *Checker) holdMoved(out *Rechecked, sent []SentRow) {
	// equal rows that are rechecked together, none of which was sent yet
	ahead := map[trade.Hash]bool{}
	flagged := map[int64]bool{}
	ready := out.Ready[:0]
	for _, entry := range out.Ready {
		like := LikenessOf(entry, sent)
		twin := like.twin || ahead[entry.PayloadHash]
		ahead[entry.PayloadHash] = true
		// unless a person declared it another document
		if like.Moved != nil && entry.Another != entry.PayloadHash {
			from := entry
			run.Hold(&entry, trade.CauseRetyped, like.text(), trade.CounterpartOf(like.Moved.Entry))
			entry.UpdatedAt = r.run.Env.Clock.Now()
			out.hold(from, entry)
			for _, of := range append(like.left, like.Moved) {
				old := of.Entry
				here := old.Job == r.run.Job.Name() && old.State == trade.Accepted
				if here && !old.Flags.Has(trade.Replaced) && !flagged[old.ID] {
					flagged[old.ID] = true
					old.Flags, old.UpdatedAt = old.Flags.With(trade.Replaced, true), entry.UpdatedAt
					out.Updates = append(out.Updates, trade.Update{From: old.State, Entry: old})
				}
			}
			continue
		}
		if twin || like.Moved != nil {
			entry.Flags = entry.Flags.With(trade.Twin, true)
		}
		ready = append(ready, entry)
	}
	out.Ready = ready
}

// misplaced returns the parent under whose record a row would be sent although its key has other
// rows in the ERP now, in whichever job; nil if there is none.
func misplaced(m *mapping.Mapping, get mapping.ColumnsOf, sent map[trade.ParentKey]*SentRow) *trade.Entry {
	for _, specs := range m.ParentSpecs() {
		var record *SentRow
		var now []wouldSend
		for _, p := range specs {
			key, ok := mapping.ParentKey(get, p.Columns)
			s := sent[trade.ParentKey{Job: p.Job, Key: key}]
			if !ok || s == nil {
				continue
			}
			for _, c := range s.Now {
				if !c.cancelled || c.number != 0 { // else it cannot be compared
					now = append(now, c)
				}
			}
			has := (s.Entry.RemoteID != "" || s.Entry.MovedID != "") && !s.Entry.Flags.Has(trade.Replaced)
			// the same choice as in applyParent
			if has && (record == nil || record.Entry.Flags.Has(trade.Changed) && !s.Entry.Flags.Has(trade.Changed)) {
				record = s
			}
		}
		if record != nil && record.Entry.MovedID == "" && len(now) > 0 &&
			!slices.ContainsFunc(now, func(c wouldSend) bool { return c.is(record.Entry) }) {
			return &record.Entry
		}
	}
	return nil
}
