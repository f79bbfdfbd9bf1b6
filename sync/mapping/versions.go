// The comparison of a row with what was sent.

package mapping

import (
	"maps"
	"slices"

	"github.com/safrasync/safrasync/trade"
)

// Compare records, on an entry that was sent or may have been, whether its row differs now from
// what was sent or, after a person has acknowledged a difference, from what that person saw. The
// newest values are kept as long as they are needed: mapped columns only, like all values in the
// ledger. A parent with another key is no difference if its record is the one that was sent: its row
// was renumbered.
func (e *Evaluator) Compare(entry *trade.Entry, values trade.Values, known Parents) {
	values = e.Seal(values)
	base, sent := entry.Values, SentTexts(*entry)
	if entry.AckValues != nil {
		base, sent = entry.AckValues, nil
	}
	changed := e.differs(entry.Key, base, values, known, sent)
	entry.Flags = entry.Flags.With(trade.Changed, changed)
	entry.Acknowledged = entry.Acknowledged.With(trade.Changed, !changed && entry.AckValues != nil)
	entry.Now = nil
	if changed || entry.AckValues != nil {
		entry.Now = values
	}
}

// Differs reports whether two versions of a row make two different records under the present
// mapping. A column that the older version lacks was not mapped then: the newer value is used for
// both, so that a changed configuration alone is no difference.
func (e *Evaluator) Differs(key string, old, now trade.Values) bool {
	return e.differs(key, old, now, nil, nil)
}

func (e *Evaluator) differs(key string, old, now trade.Values, known Parents, sent map[string]*string) bool {
	a, b := e.Job.Mapping.versions(key, e.Seal(old), e.Seal(now), e.Refs)
	for i := range e.Job.Mapping.Fields {
		rule := e.Job.Mapping.Fields[i].Rule
		if contentOf(rule, a.Fields[rule.Field]) != contentOf(rule, b.Fields[rule.Field]) &&
			!sameParent(rule, sent, e.Job.Mapping.Draft(ColumnsIn(now), e.Refs, known)) {
			return true
		}
	}
	return false
}

// sameParent reports whether a field has the id of the parent under whose record it was sent.
func sameParent(rule trade.FieldRule, sent map[string]*string, now trade.Draft) bool {
	id := sent[rule.Field]
	return rule.Parent != "" && id != nil && now.Fields[rule.Field].Text == *id
}

// reducedValue replaces a value of which only a mark is left, if the newer value has another mark.
const reducedValue = "no longer kept"

// versions maps two versions of the row with this key. A parent is compared by its key. If only a
// mark of the older value is left, the newer value is used for both if its mark is the same.
func (m *Mapping) versions(key string, old, now trade.Values, refs Codes) (a, b trade.Draft) {
	base := maps.Clone(now)
	for name := range now {
		cell, ok := old[name]
		switch {
		case !ok, cell.Kind == trade.Marked && trade.Mark(key, name, now[name]) == cell:
		case cell.Kind == trade.Marked:
			base[name] = trade.Cell{Kind: unreadable, Text: reducedValue}
		default:
			base[name] = cell
		}
	}
	return m.Draft(ColumnsIn(base), refs, nil), m.Draft(ColumnsIn(now), refs, nil)
}

// contentOf returns what a field would send or, if it cannot be mapped, what the ERP has.
func contentOf(rule trade.FieldRule, f trade.DraftField) string {
	if f.Failed {
		return "?" + f.Origin.Value
	}
	return "=" + rule.Canonical(f.Text)
}

// Differences returns the fields in which the ERP's row differs from what was sent, or from what a
// person has acknowledged, in the order of the API's table. refs has the form of [Codes]; known are
// the rows of [DifferenceParents]. If job is nil, because the configuration no longer has it, the
// result has columns instead of fields.
func Differences(job *Job, entry trade.Entry, refs map[string]map[string]string, known Parents) []trade.Difference {
	if entry.Now == nil {
		return nil
	}
	if job == nil {
		return columnDifferences(entry)
	}
	var out []trade.Difference
	sent, now := job.Mapping.versions(entry.Key, entry.Values, entry.Now, refs)
	dealt := sent
	if entry.AckValues != nil {
		dealt, _ = job.Mapping.versions(entry.Key, entry.AckValues, entry.Now, refs)
	}
	left := SentTexts(entry)
	// parents are compared by their keys, and shown by their ids
	shown := job.Mapping.Draft(ColumnsIn(entry.Now), refs, known)
	ackShown := job.Mapping.Draft(ColumnsIn(entry.AckValues), refs, known)
	for _, rule := range trade.Rules(job.Spec.Sends) {
		f, mapped := now.Fields[rule.Field]
		was, ack := sent.Fields[rule.Field], dealt.Fields[rule.Field]
		if !mapped || contentOf(rule, f) == contentOf(rule, was) && contentOf(rule, f) == contentOf(rule, ack) ||
			entry.AckValues == nil && sameParent(rule, left, shown) {
			continue
		}
		d := trade.Difference{
			Field: rule.Field, Columns: f.Origin.Columns, Sent: left[rule.Field],
			Now:     textOf(rule, shown.Fields[rule.Field]),
			ERPSent: was.Origin.Value, ERPNow: f.Origin.Value,
		}
		if entry.AckValues != nil {
			d.Acknowledged = textOf(rule, ackShown.Fields[rule.Field])
		}
		at := slices.IndexFunc(shown.Missing, func(a trade.Awaited) bool { return a.Job != "" })
		if rule.Parent != "" && at >= 0 {
			a := shown.Missing[at]
			p := known[trade.ParentKey{Job: a.Job, Key: a.Key}]
			a.ParentState, a.ParentCause = p.State, p.Cause
			d.WaitsFor = &a
		}
		out = append(out, d)
	}
	if len(out) == 0 { // the mapping has changed since the difference was found
		return columnDifferences(entry)
	}
	return out
}

// DifferenceParents returns the keys of the parents that the newer versions of a row name.
func (j *Job) DifferenceParents(entry trade.Entry) []trade.ParentKey {
	keys := j.Mapping.ParentKeys(nil, ColumnsIn(entry.Now))
	return j.Mapping.ParentKeys(keys, ColumnsIn(entry.AckValues))
}

// textOf returns what a field would send; nil if it is absent or cannot be mapped.
func textOf(rule trade.FieldRule, f trade.DraftField) *string {
	if f.Failed || f.Text == "" {
		return nil
	}
	text := rule.Canonical(f.Text)
	return &text
}

// SentTexts returns the fields of the request that was sent, as texts.
func SentTexts(entry trade.Entry) map[string]*string {
	out := map[string]*string{}
	for field, text := range trade.SentFields(entry.Payload) {
		out[field] = &text
	}
	if entry.Target != "" { // it was in the path
		out["order_commitment_id"] = &entry.Target
	}
	return out
}

// SentWithFormerID reports whether an entry was sent with an id that a code of its row had then, and
// for which the table has another one now. former are, by kind and code, all ids of such codes.
func (e *Evaluator) SentWithFormerID(entry *trade.Entry, former map[string]map[string][]string) bool {
	sent := SentTexts(*entry)
	get := ColumnsIn(entry.Values)
	for i := range e.Job.Mapping.Fields {
		f := &e.Job.Mapping.Fields[i]
		id := sent[f.Rule.Field]
		if f.Spec.Ref == "" || id == nil {
			continue
		}
		code := CodeOf(get, f.Spec.Columns)
		now, err := trade.ParseID(e.Refs[f.Spec.Ref][code])
		if err == nil && now != *id && slices.Contains(former[f.Spec.Ref][code], *id) {
			return true
		}
	}
	return false
}

// columnDifferences returns the columns that differ.
func columnDifferences(entry trade.Entry) []trade.Difference {
	var out []trade.Difference
	for _, name := range slices.Sorted(maps.Keys(entry.Now)) {
		old, known := entry.Values[name]
		now := entry.Now[name]
		if old.Kind == trade.Marked {
			known = trade.Mark(entry.Key, name, now) != old
			if known {
				old = trade.Cell{}
			}
		}
		if known && now != old {
			out = append(out, trade.Difference{
				Columns: []string{name}, ERPSent: PlainText(valueOf(old)), ERPNow: PlainText(valueOf(now)),
			})
		}
	}
	return out
}
