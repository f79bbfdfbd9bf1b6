// Fields that are the id of another row, and how that row is found.

package mapping

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/trade"
)

// Parents are the rows on which a batch of rows depends, as the ledger knows them; a row that is
// missing here is not in the ledger.
type Parents map[trade.ParentKey]trade.Parent

// Unfit reports whether a row with these values has a known parent without a record that children
// may go under.
func (m *Mapping) Unfit(get ColumnsOf, known Parents) bool {
	if len(known) == 0 {
		return false
	}
	return slices.ContainsFunc(m.ParentKeys(nil, get), func(k trade.ParentKey) bool {
		p, ok := known[k]
		return ok && p.RemoteID == ""
	})
}

// ParentKeys appends the keys of the rows on which one row depends.
func (m *Mapping) ParentKeys(to []trade.ParentKey, get ColumnsOf) []trade.ParentKey {
	for i := range m.Fields {
		for _, p := range m.Fields[i].Spec.SentBy {
			if key, ok := ParentKey(get, p.Columns); ok {
				to = append(to, trade.ParentKey{Job: p.Job, Key: key})
			}
		}
	}
	return to
}

// ParentKey returns the key of a parent; ok is false if the row names none, for example because a
// column is NULL.
func ParentKey(get ColumnsOf, columns []string) (key string, ok bool) {
	texts := make([]string, len(columns))
	for i, column := range columns {
		v := get.part(column)
		if v.Err != "" || v.Kind == erp.Null {
			return "", false
		}
		texts[i] = PlainText(v)
	}
	key = JoinCode(texts)
	return key, strings.Trim(key, "| ") != "" && Keepable(key)
}

// OtherAccents returns a key with its accents in the other form, composed or decomposed; the same key if
// it has none.
func OtherAccents(key string) string {
	if norm.NFC.IsNormalString(key) {
		return norm.NFD.String(key)
	}
	return norm.NFC.String(key)
}

// NeverRead is the state stored under a job with an empty key if the job's rows were never read:
// any row may be among them.
const NeverRead trade.State = "never read"

// applyParent maps a field that is the id of another row. Of several jobs the first whose row has
// an id counts: a row that two jobs return is sent by one of them and held in the other. If both
// were sent, the one that has not changed since counts. While one of the jobs was never read, its
// row with this key may be another one, so the child waits. If no row has an id, the child waits
// for the first that was sent, or may have been, else for the first that is known, else for the
// first.
func (f *fieldMapping) applyParent(get ColumnsOf, known Parents) (trade.DraftField, *trade.Problem, *trade.Awaited) {
	out := trade.DraftField{Origin: trade.Origin{Columns: f.Spec.Columns, Via: f.via()}}
	for _, column := range f.Spec.Columns {
		if v := get.part(column); v.Err != "" {
			return out, &trade.Problem{Rule: trade.RuleUnreadable, Detail: v.Err}, nil
		}
	}
	var missing *trade.Awaited
	rank := -1 // of the parent that the row waits for
	var keys []string
	var other *trade.Awaited // another job has a different record under the key
	var sent trade.Parent
	var of trade.ParentKey
	for _, spec := range f.Spec.SentBy {
		key, ok := ParentKey(get, spec.Columns)
		at := trade.ParentKey{Job: spec.Job, Key: key}
		if p := known[at]; ok && p.RemoteID != "" && (sent.RemoteID == "" || sent.Changed && !p.Changed) {
			sent, of = p, at
		}
	}
	for _, spec := range f.Spec.SentBy {
		key, ok := ParentKey(get, spec.Columns)
		if !ok || f.blank(get, spec.Columns) {
			continue
		}
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
		parent, ok := known[trade.ParentKey{Job: spec.Job, Key: key}]
		if parent.RemoteID != "" && of == (trade.ParentKey{Job: spec.Job, Key: key}) {
			out.Origin.Value, out.Text = key, parent.RemoteID
		}
		if sent.RemoteID != "" {
			if _, unread := known[trade.ParentKey{Job: spec.Job}]; unread {
				other = &trade.Awaited{Job: spec.Job, Key: key}
			}
			if parent.RemoteID == "" && parent.State != trade.Withdrawn && parent.State != trade.Dismissed &&
				parent.Content != 0 && parent.Content != sent.Content {
				other = &trade.Awaited{Job: spec.Job, Key: key}
			}
			continue
		}
		if n := rankOf(parent, ok); n > rank {
			rank, missing = n, &trade.Awaited{Job: spec.Job, Key: key}
			if ok {
				out.Origin.Value = key
				continue
			}
			other := OtherAccents(key)
			if known[trade.ParentKey{Job: spec.Job, Key: other}].State != "" {
				missing.Spelled = other
			}
		}
	}
	if sent.RemoteID != "" {
		if other != nil { // a person decides whether it is the same
			out.Text = ""
		}
		return out, nil, other
	}
	if rank <= 0 {
		// when versions are compared no parent is known: each key counts
		out.Origin.Value = strings.Join(keys, ", ")
	}
	return out, nil, missing
}

// rankOf returns the rank of a parent without an id: a row waits for the one with the highest rank.
func rankOf(parent trade.Parent, known bool) int {
	switch {
	case known && parent.State.MayBeOnPlatform():
		return 3
	case known && parent.Cause != trade.CauseOtherJob:
		return 2
	case known:
		return 1
	}
	return 0
}

// blank reports whether all the columns are empty, or have values that the configuration calls
// empty.
func (f *fieldMapping) blank(get ColumnsOf, columns []string) bool {
	for _, column := range columns {
		v := get.part(column)
		_, constant := ConstOf(column)
		if text := PlainText(v); !constant && text != "" && !f.isEmpty(v, text) {
			return false
		}
	}
	return true
}

// ValuesOf returns the values that the ledger stores of entries, in their order.
func ValuesOf(entries []trade.Entry) []trade.Values {
	return trade.Map(entries, func(e trade.Entry) trade.Values { return e.Values })
}

// ParentSpecs returns, for each field that is the id of another row, the jobs that send it.
func (m *Mapping) ParentSpecs() [][]ParentSpec {
	var out [][]ParentSpec
	for i := range m.Fields {
		if specs := m.Fields[i].Spec.SentBy; len(specs) > 0 {
			out = append(out, specs)
		}
	}
	return out
}
