package sync

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/trade"
)

// parents are the rows that a batch of rows hangs on, as the ledger knows them; what is not in it is not in the ledger.
type parents map[trade.ParentKey]trade.Parent

// parentsOf looks up, in one go, what rows with these values hang on.
func (r *jobRun) parentsOf(ctx context.Context, rows []trade.Values) (parents, error) {
	return r.parentsFor(ctx, r.job, rows)
}

// parentsFor is parentsOf for rows of another job.
func (r *jobRun) parentsFor(ctx context.Context, job *Job, rows []trade.Values) (parents, error) {
	var keys []trade.ParentKey
	for _, values := range rows {
		keys = job.mapping.parentKeys(keys, columnsIn(values))
	}
	if len(keys) == 0 {
		return nil, nil
	}
	known, err := r.ledger.Parents(ctx, keys)
	if err != nil || len(job.mapping.sentBy) < 2 {
		return known, err
	}
	for _, name := range job.mapping.sentBy {
		unread, err := r.neverRead(ctx, name)
		if err != nil {
			return nil, err
		}
		if unread {
			known[trade.ParentKey{Job: name}] = trade.Parent{State: neverRead}
		}
	}
	return known, nil
}

// neverRead is the state of the parent with no key of a job whose rows nobody has read yet: any row
// may be among them.
const neverRead trade.State = "never read"

// neverRead reports whether a job has no entries and was never read to the end: a brake holds it,
// or its ERP cannot be read.
func (r *jobRun) neverRead(ctx context.Context, job string) (bool, error) {
	if !slices.ContainsFunc(r.Jobs, func(j *Job) bool { return j.Name() == job }) {
		return false, nil
	}
	cursor, err := r.ledger.Cursor(ctx, job)
	if err != nil || !cursor.SweptAt.IsZero() {
		return false, err
	}
	tallies, err := r.ledger.Counts(ctx, job)
	return len(tallies) == 0, err
}

// unfit reports whether something that a row with these values hangs on has no record that children may go under.
func (m *Mapping) unfit(get columnsOf, known parents) bool {
	if len(known) == 0 {
		return false
	}
	return slices.ContainsFunc(m.parentKeys(nil, get), func(k trade.ParentKey) bool {
		p, ok := known[k]
		return ok && p.RemoteID == ""
	})
}

// parentKeys adds what one row hangs on.
func (m *Mapping) parentKeys(to []trade.ParentKey, get columnsOf) []trade.ParentKey {
	for i := range m.fields {
		for _, p := range m.fields[i].spec.SentBy {
			if key, ok := parentKey(get, p.Columns); ok {
				to = append(to, trade.ParentKey{Job: p.Job, Key: key})
			}
		}
	}
	return to
}

// misplaced gives the parent under whose record a row would go although other rows stand under its
// key in the ERP, in whichever job; nil: there is none.
func (m *Mapping) misplaced(get columnsOf, sent map[trade.ParentKey]*sentRow) *trade.Entry {
	for i := range m.fields {
		var record *sentRow
		var now []content
		for _, p := range m.fields[i].spec.SentBy {
			key, ok := parentKey(get, p.Columns)
			s := sent[trade.ParentKey{Job: p.Job, Key: key}]
			if !ok || s == nil {
				continue
			}
			for _, c := range s.now {
				if !c.cancelled || c.number != 0 { // of a cancelled row that could not go nobody can say what it is
					now = append(now, c)
				}
			}
			has := (s.Entry.RemoteID != "" || s.Entry.MovedID != "") && !s.Entry.Flags.Has(trade.Replaced)
			if has && (record == nil || record.Entry.Flags.Has(trade.Changed) && !s.Entry.Flags.Has(trade.Changed)) { // as applyParent takes it
				record = s
			}
		}
		if record != nil && record.Entry.MovedID == "" && len(now) > 0 && !slices.ContainsFunc(now, func(c content) bool { return c.is(record.Entry) }) {
			return &record.Entry
		}
	}
	return nil
}

// parentKey reads the key of a parent; not ok when the row names none: a NULL stands in no key.
func parentKey(get columnsOf, columns []string) (key string, ok bool) {
	texts := make([]string, len(columns))
	for i, column := range columns {
		v, _ := get(column)
		if v.Err != "" || v.Kind == erp.Null {
			return "", false
		}
		texts[i] = plainText(v)
	}
	key = joinCode(texts)
	return key, strings.Trim(key, "| ") != "" && keepable(key)
}

// applyParent maps a field that is the id of another row. Of several jobs the first whose row has an
// id counts: a row that both return is sent by one of them, and held in the other; where both were
// sent, the one that was sent as it stands. While one of the
// jobs was never read, the row may be another one there. Where none has an id, the row waits for the
// first that was sent, or may have been, else for the first that is known, else for the first.
func (f *fieldMapping) applyParent(get columnsOf, known parents) (trade.DraftField, *trade.Problem, *trade.Awaited) {
	out := trade.DraftField{Origin: trade.Origin{Columns: f.spec.Columns, Via: f.via()}}
	for _, column := range f.spec.Columns {
		if v, _ := get(column); v.Err != "" {
			return out, &trade.Problem{Rule: trade.RuleUnreadable, Detail: v.Err}, nil
		}
	}
	var missing *trade.Awaited
	rank := -1 // of the parent that the row waits for
	var keys []string
	var sent trade.Parent
	var other *trade.Awaited // has the key now, in another job, and is another record
	var of trade.ParentKey   // where that is
	for _, spec := range f.spec.SentBy {
		key, ok := parentKey(get, spec.Columns)
		at := trade.ParentKey{Job: spec.Job, Key: key}
		if p := known[at]; ok && p.RemoteID != "" && (sent.RemoteID == "" || sent.Changed && !p.Changed) {
			sent, of = p, at
		}
	}
	for _, spec := range f.spec.SentBy {
		key, ok := parentKey(get, spec.Columns)
		if !ok || f.blank(get, spec.Columns) {
			continue
		}
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
		parent, ok := known[trade.ParentKey{Job: spec.Job, Key: key}]
		if parent.RemoteID != "" && of == (trade.ParentKey{Job: spec.Job, Key: key}) {
			out.Origin.Value, out.Text, out.Parent = key, parent.RemoteID, parent.Content
		}
		if sent.RemoteID != "" {
			if _, unread := known[trade.ParentKey{Job: spec.Job}]; unread {
				other = &trade.Awaited{Job: spec.Job, Key: key}
			}
			if parent.RemoteID == "" && parent.State != trade.Withdrawn && parent.State != trade.Dismissed && parent.Content != 0 && parent.Content != sent.Content {
				other = &trade.Awaited{Job: spec.Job, Key: key}
			}
			continue
		}
		n := 0
		switch {
		case ok && parent.State.Created():
			n = 3
		case ok && parent.Cause != trade.CauseOtherJob:
			n = 2
		case ok:
			n = 1
		}
		if n > rank {
			rank, missing = n, &trade.Awaited{Job: spec.Job, Key: key}
			if ok {
				out.Origin.Value = key
			}
		}
	}
	if sent.RemoteID != "" {
		if other != nil { // a person says whether it is the same
			out.Text, out.Parent = "", 0
		}
		return out, nil, other
	}
	if rank <= 0 {
		out.Origin.Value = strings.Join(keys, ", ") // two versions of a row are compared without knowing the parents: each key counts
	}
	return out, nil, missing
}

// blank tells whether the columns hold nothing, or what the configuration calls empty.
func (f *fieldMapping) blank(get columnsOf, columns []string) bool {
	for _, column := range columns {
		v, _ := get(column)
		if text := plainText(v); text != "" && !f.isEmpty(v, text) {
			return false
		}
	}
	return true
}

// adoptOrphans takes up the rows that wait for a parent which has its id now: a child goes in the run in which its parent is accepted. Nothing is read
// when no parent was accepted since the last look. It tells how many rows moved.
func (r *jobRun) adoptOrphans(ctx context.Context) (moved int, err error) {
	if len(r.job.mapping.sentBy) == 0 {
		return 0, nil
	}
	accepted, err := r.acceptedParents(ctx)
	if err != nil {
		return 0, err
	}
	cursor, err := r.ledger.Cursor(ctx, r.job.Name())
	if err != nil || cursor.Parents == accepted {
		return 0, err
	}
	if moved, err = r.lookAtOrphans(ctx); err != nil {
		return moved, err
	}
	cursor.Parents = accepted
	return moved, r.record(ctx, trade.Page{Cursor: &cursor})
}

// lookAtOrphans maps the rows again that wait for a parent, and records those that a parent has moved on. A dry run tells of each one.
func (r *jobRun) lookAtOrphans(ctx context.Context) (moved int, err error) {
	err = r.ledger.Orphans(ctx, r.job.Name(), func(waiting []trade.Entry) error {
		known, err := r.parentsOf(ctx, valuesOf(waiting))
		if err != nil {
			return err
		}
		var page trade.Page
		for _, old := range waiting {
			entry := old
			r.eval.evaluate(&entry, old.Values, known)
			if r.dry == nil && entry.State == old.State && entry.Cause == old.Cause && slices.Equal(entry.WaitingFor, old.WaitingFor) {
				continue
			}
			entry.UpdatedAt = r.Clock.Now()
			page.Updates = append(page.Updates, trade.Update{From: old.State, Entry: entry})
			if entry.State == trade.Pending {
				moved++
			}
		}
		return r.record(ctx, page)
	})
	return moved, err
}

// acceptedParents is a text that differs with every acceptance in the jobs that this one's rows hang on, and with every record that belongs to another row there.
func (r *jobRun) acceptedParents(ctx context.Context) (string, error) {
	var parts []string
	for _, job := range r.job.mapping.sentBy {
		tallies, err := r.ledger.Counts(ctx, job)
		if err != nil {
			return "", err
		}
		n, aside := 0, map[trade.State]int{}
		for _, t := range tallies {
			switch t.State {
			case trade.Accepted:
				n += t.Count
			case trade.Held, trade.Rejected, trade.Dismissed, trade.Withdrawn:
				aside[t.State] += t.Count
			}
		}
		flags, err := r.ledger.FlagCounts(ctx, job)
		if err != nil {
			return "", err
		}
		unread, err := r.neverRead(ctx, job)
		if err != nil {
			return "", err
		}
		parts = append(parts, fmt.Sprintf("%s=%d %v %d %v", job, n, aside, flags[trade.Replaced], unread))
	}
	return strings.Join(parts, " "), nil
}

func valuesOf(entries []trade.Entry) []trade.Values {
	out := make([]trade.Values, len(entries))
	for i, e := range entries {
		out[i] = e.Values
	}
	return out
}
