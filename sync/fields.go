package sync

import (
	"github.com/safrasync/safrasync/trade"
)

// RowField is one field of a row of the ledger as today's mapping reads it.
type RowField struct {
	Text string // in the API's form; "" when it is absent or cannot be read
	ERP  string // what the ERP has in its columns, parts joined with |; "" for a constant, for a document, and where only a mark is kept
}

// RowFields reads a row of the ledger with today's mapping, without asking anybody. refs are as [Codes] gives them. A field that is not mapped is not in the answer.
func (j *Job) RowFields(values trade.Values, refs map[string]map[string]string) map[string]RowField {
	draft := j.mapping.draft(columnsIn(kept(values)), refs, nil)
	out := make(map[string]RowField, len(draft.Fields))
	for i := range j.mapping.fields {
		f := &j.mapping.fields[i]
		d := draft.Fields[f.rule.Field]
		field := RowField{Text: draft.Text(f.rule.Field), ERP: d.Origin.Value}
		if f.spec.Const != nil || f.spec.Lookup != "" {
			field.ERP = ""
		}
		if field.Text != "" {
			field.Text = f.rule.Canonical(field.Text)
		}
		out[f.rule.Field] = field
	}
	return out
}

// ParentOf gives the keys of the rows that a row hangs on, one for each job that may have it; none for a row that hangs on nothing.
func (j *Job) ParentOf(values trade.Values) []trade.ParentKey {
	return j.mapping.parentKeys(nil, columnsIn(kept(values)))
}

// KeyParts takes the text of a key apart.
func KeyParts(key string) []string { return splitCode(key) }
