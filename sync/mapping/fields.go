// The fields of a row for people: value, origin, what was sent.

package mapping

import (
	"github.com/safrasync/safrasync/trade"
)

// RowField is one field of a row of the ledger as today's mapping reads it.
type RowField struct {
	Text string // in the API's form; "" when it is absent or cannot be read
	// what the ERP has in its columns, parts joined with |; "" for a constant, for a document, and
	// where only a mark is kept
	ERP string
}

// RowFields reads a row of the ledger with today's mapping, without asking anybody. refs are as
// [Codes] gives them. A field that is not mapped is not in the answer.
func (j *Job) RowFields(values trade.Values, refs map[string]map[string]string) map[string]RowField {
	draft := j.Mapping.Draft(ColumnsIn(Kept(values)), refs, nil)
	out := make(map[string]RowField, len(draft.Fields))
	for i := range j.Mapping.Fields {
		f := &j.Mapping.Fields[i]
		d := draft.Fields[f.Rule.Field]
		field := RowField{Text: draft.Text(f.Rule.Field), ERP: d.Origin.Value}
		if f.Spec.Const != nil || f.Spec.Lookup != "" {
			field.ERP = ""
		}
		if field.Text != "" {
			field.Text = f.Rule.Canonical(field.Text)
		}
		out[f.Rule.Field] = field
	}
	return out
}

// ParentOf returns the keys of the rows that a row hangs on, one for each job that may have it;
// none for a row that hangs on nothing.
func (j *Job) ParentOf(values trade.Values) []trade.ParentKey {
	return j.Mapping.ParentKeys(nil, ColumnsIn(Kept(values)))
}

// Kept returns the values that are still kept: a column of which only a mark is left is like one
// that was not mapped.
func Kept(values trade.Values) trade.Values {
	out := make(trade.Values, len(values))
	for name, cell := range values {
		if cell.Kind != trade.Marked {
			out[name] = cell
		}
	}
	return out
}
