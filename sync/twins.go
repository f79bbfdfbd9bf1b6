package sync

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/trade"
)

// What is the same? A content that was sent, or is in doubt, is not sent again under another key
// unless a further row with it stands in the ERP: for each content there are never more records
// than rows that stood at once. The key under which it was sent says nothing: another row may stand
// there by now.

// sentRow is an entry that has, or may have, a record, and what stands under its key in the ERP
// now.
type sentRow struct {
	trade.SentContent
	now []content
}

// content is what a row of the ERP would send.
type content struct {
	job    string
	source trade.Hash
	number int64 // of its content; 0: it could not go

	cancelled bool
}

// sameContent reports whether two content numbers are those of the same business; 0 is of none.
func sameContent(a, b int64) bool { return a != 0 && a == b }

// is reports whether the row would send what an entry sends.
func (c content) is(e trade.Entry) bool {
	return sameContent(c.number, e.Content) || c.job == e.Job && c.source == e.SourceHash
}

// stands reports whether a row with the content of e stands under the key.
func (s sentRow) stands(e trade.Entry) bool {
	for _, c := range s.now {
		if c.is(e) {
			return true
		}
	}
	return false
}

// sent reports whether the record has the content of e.
func (s sentRow) sent(e trade.Entry) bool {
	return e.Content != 0 && slices.Contains(s.Contents, e.Content)
}

// likeness is what is known of the rows that were sent with the content of a row that is about to
// go.
type likeness struct {
	twin  bool       // one of them sends the very same, and stands: a second row of equal content
	other bool       // a row of another job has this content, or the same columns, and stands
	moved *sentRow   // the record of this row: no row is left for it under its own key; nil: there is none
	left  []*sentRow // all records of this content without a row
}

// text says why a row is held whose content was sent under another key.
func (l likeness) text() string {
	id, what := "", "is no longer in the ERP"
	if l.moved.Entry.RemoteID != "" {
		id = " with the id " + l.moved.Entry.RemoteID
	}
	if len(l.moved.now) > 0 {
		what = "has another row in the ERP now"
	}
	return fmt.Sprintf("the same content went out under key %s%s, which %s: a record that was re-typed or renumbered "+
		"must not go twice", l.moved.Entry.Key, id, what)
}

// likenessOf compares a row with those that were sent. As many rows with its content must stand
// under the keys of others as there are records of it, and none of the others may have lost it.
func likenessOf(e trade.Entry, others []sentRow) likeness {
	var out likeness
	var without *sentRow // has a record of this content, or had the row, and the row stands there no more
	records, rows, lost := 0, 0, false
	for i := range others {
		o := &others[i]
		if o.Entry.State == trade.Held && o.Entry.Cause == trade.CauseOtherJob { // a row whose record another job has: typed again it is still that row
			if o.Entry.ID != e.ID && (o.Entry.SourceHash == e.SourceHash || sameContent(o.Entry.Content, e.Content)) && !o.stands(e) {
				lost, without = true, cmp.Or(without, o)
			}
			continue
		}
		// Jobs that read the same columns may make different records of them: the row of another one was
		// this row only if it does not stand there any more.
		sent, newest := o.sent(e), o.Entry.SourceHash == e.SourceHash && (o.Entry.Job == e.Job || !o.stands(o.Entry))
		out.other = out.other || o.Entry.Job != e.Job && o.Entry.SourceHash == e.SourceHash && o.stands(o.Entry)
		if o.Entry.ID == e.ID || !sent && !newest && !o.stands(e) {
			continue
		}
		if sent {
			records++
		}
		if o.stands(e) {
			rows++
			out.twin = out.twin || o.Entry.PayloadHash == e.PayloadHash || newest
			out.other = out.other || o.Entry.Job != e.Job
			continue
		}
		if sent {
			out.left = append(out.left, o)
		}
		lost = lost || newest && o.Entry.MovedID == ""
		if without == nil || sent && !without.sent(e) {
			without = o
		}
	}
	if rows < records || lost {
		out.moved = without
	}
	return out
}

// findSent returns what was sent, or may have been, with the content of some entries. storing are
// intents on their way to the disk, which the ledger may not have yet.
func (r *jobRun) findSent(ctx context.Context, entries, storing []trade.Entry) ([]sentRow, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	contents, sources := make([]int64, len(entries)), make([]trade.Hash, len(entries))
	for i, e := range entries {
		contents[i], sources[i] = e.Content, e.SourceHash
	}
	found, err := r.ledger.SameContent(ctx, r.job.Spec.Sends, contents, sources)
	if err != nil {
		return nil, err
	}
	out := make([]sentRow, 0, len(found)+len(storing))
	known := map[int64]bool{}
	for _, f := range found {
		out, known[f.Entry.ID] = append(out, sentRow{SentContent: f}), true
	}
	for _, e := range storing {
		if !known[e.ID] {
			out = append(out, sentRow{SentContent: trade.SentContent{Entry: e, Contents: []int64{e.Content}}})
		}
	}
	return out, nil
}

// readSent reads what stands under the keys of rows that were sent. rows are those of this job that
// were read already, by key. A job that is no longer configured cannot tell, which counts as
// nothing. stand gives the rows that count.
func (r *jobRun) readSent(ctx context.Context, sent []sentRow, rows map[string][]erp.Row, stand func(*Job, []erp.Row) []erp.Row) error {
	for _, job := range r.Jobs {
		var mine []*sentRow
		var entries []trade.Entry
		for i := range sent {
			if s := &sent[i]; s.Entry.Job == job.Name() {
				mine, entries = append(mine, s), append(entries, s.Entry)
				s.now = nil
			}
		}
		if len(mine) == 0 {
			continue
		}
		byKey := rows
		if job != r.job || rows == nil {
			read, err := r.readAgain(ctx, job, entries)
			if err != nil {
				return err
			}
			byKey = byKeyOf(job, read)
		}
		eval := *r.eval
		eval.job = job
		var values []trade.Values
		for _, e := range entries {
			for _, row := range byKey[e.Key] {
				values = append(values, job.values(row.Get))
			}
		}
		known, err := r.parentsFor(ctx, job, values)
		if err != nil {
			return err
		}
		for _, s := range mine {
			for _, row := range stand(job, byKey[s.Entry.Key]) {
				would := trade.Entry{Job: job.Name(), Key: s.Entry.Key}
				eval.evaluate(&would, job.values(row.Get), known)
				s.now = append(s.now, content{job.Name(), job.sourceHash(row.Get), would.Content, job.isCancelled(row.Get)})
			}
		}
	}
	return nil
}

// holdMoved holds rows whose content went out under another key, and marks rows that go beside an
// equal one. The entries whose rows stand elsewhere now are flagged: nothing more goes under their
// records until a person has decided.
func (r *jobRun) holdMoved(out *looked, sent []sentRow) {
	ahead := map[trade.Hash]bool{} // what is typed twice in a row is looked at together, when neither has gone yet
	flagged := map[int64]bool{}
	ready := out.ready[:0]
	for _, entry := range out.ready {
		like := likenessOf(entry, sent)
		twin := like.twin || ahead[entry.PayloadHash]
		ahead[entry.PayloadHash] = true
		if like.moved != nil && entry.Another != entry.PayloadHash { // else a person has declared it
			from := entry
			hold(&entry, trade.CauseRetyped, like.text())
			entry.UpdatedAt = r.Clock.Now()
			out.hold(from, entry)
			for _, of := range append(like.left, like.moved) {
				old := of.Entry
				here := old.Job == r.job.Name() && old.State == trade.Accepted
				if here && !old.Flags.Has(trade.Replaced) && !flagged[old.ID] {
					flagged[old.ID] = true
					old.Flags, old.UpdatedAt = old.Flags.With(trade.Replaced, true), entry.UpdatedAt
					out.updates = append(out.updates, trade.Update{From: old.State, Entry: old})
				}
			}
			continue
		}
		if twin || like.moved != nil {
			entry.Flags = entry.Flags.With(trade.Twin, true)
		}
		ready = append(ready, entry)
	}
	out.ready = ready
}

// before is what is known of a row from before the reading in which it has changed.
type before struct {
	source   trade.Hash
	replaced bool // it is certain that another row stands there
}

// markReplaced leaves the flag only to those rows that have changed in this reading and changed
// places: what stood there stands under another key now, or what stands there now stood under
// another key before, or was sent under one where it stands no more.
func (r *jobRun) markReplaced(ctx context.Context) error {
	stood := make(map[trade.Hash]bool, len(r.differ)) // what stood under their keys until now
	for _, was := range r.differ {
		stood[was.source] = true
	}
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(r.differ)), pageSize) {
		entries, err := r.ledger.Entries(ctx, ids)
		if err != nil {
			return err
		}
		now, err := r.newestOf(ctx, entries)
		if err != nil {
			return err
		}
		var contents []int64
		var sources []trade.Hash
		for i, e := range entries {
			contents, sources = append(contents, now[i].Content), append(sources, r.differ[e.ID].source)
		}
		found, err := r.ledger.SameContent(ctx, r.job.Spec.Sends, contents, sources)
		if err != nil {
			return err
		}
		sent := make([]sentRow, len(found))
		for i, f := range found {
			sent[i].SentContent = f
		}
		if err := r.readSent(ctx, sent, nil, (*Job).living); err != nil {
			return err
		}
		var page trade.Page
		empty := map[int64]trade.Entry{} // what was sent from them stands elsewhere, and nothing stands there
		for i, old := range entries {
			was := r.differ[old.ID]
			moved := was.replaced || stood[old.SourceHash]
			for _, s := range sent {
				// One that has a record of this content itself is a twin.
				left := s.Entry.Job == old.Job && s.Entry.SourceHash == was.source && !s.sent(old)
				came := s.sent(now[i]) && !s.stands(now[i])
				if s.Entry.ID == old.ID || !left && !came {
					continue
				}
				moved = true
				if came && len(s.now) == 0 && s.Entry.Job == old.Job && s.Entry.State == trade.Accepted && !s.Entry.Flags.Has(trade.Replaced) {
					empty[s.Entry.ID] = s.Entry
				}
			}
			if !moved {
				entry := old
				entry.Flags = old.Flags.With(trade.Replaced, false)
				page.Updates = append(page.Updates, trade.Update{From: old.State, Entry: entry})
			}
		}
		for _, id := range slices.Sorted(maps.Keys(empty)) {
			entry := empty[id]
			entry.Flags, entry.UpdatedAt = entry.Flags.With(trade.Replaced, true), r.now
			page.Updates = append(page.Updates, trade.Update{From: trade.Accepted, Entry: entry})
		}
		if err := r.record(ctx, page); err != nil {
			return err
		}
	}
	return nil
}

// newestOf returns entries as their newest rows, which the ledger keeps beside what was sent, would
// make them.
func (r *jobRun) newestOf(ctx context.Context, entries []trade.Entry) ([]trade.Entry, error) {
	values := make([]trade.Values, len(entries))
	for i, e := range entries {
		values[i] = e.Now
	}
	known, err := r.parentsOf(ctx, values)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(entries)
	for i := range out {
		r.eval.evaluate(&out[i], values[i], known)
	}
	return out, nil
}
