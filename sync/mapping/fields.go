// The fields of a row, for people: value and origin.

package mapping

import (
	"slices"
	"strings"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/trade"
)

// RowField is one field of a row of the ledger, read with the present mapping.
type RowField struct {
	Text string // in the API's form; "" if absent or unreadable
	// the values of its columns in the ERP, joined with |; "" for a constant, for a document, and
	// if only a mark of the value is kept
	ERP string
}

// RowFields reads a row of the ledger with the present mapping, without reading the ERP or asking
// the platform. refs has the form of [Codes]. Fields that are not mapped are missing from the
// result.
func (j *Job) RowFields(values trade.Values, refs map[string]map[string]string) map[string]RowField {
	draft := j.Mapping.Draft(ColumnsIn(StoredValues(values)), refs, nil)
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

// ParentOf returns the keys of the rows on which a row depends, one for each job that may have it;
// none for a row without a parent.
func (j *Job) ParentOf(values trade.Values) []trade.ParentKey {
	return j.Mapping.ParentKeys(nil, ColumnsIn(StoredValues(values)))
}

// StoredValues returns the values that are still stored: a column of which only a mark is left is left out,
// as if it were not mapped.
func StoredValues(values trade.Values) trade.Values {
	out := make(trade.Values, len(values))
	for name, cell := range values {
		if cell.Kind != trade.Marked {
			out[name] = cell
		}
	}
	return out
}

// PathOf returns the path of an entry's request, for people; "" if the entry has no payload.
func PathOf(e trade.Entry) string {
	if e.Payload == nil {
		return ""
	}
	return apiclient.PathOf(e.Sends, e.Target)
}

// ShowSpec is a column of the query that is displayed to people before the key of a row, with a
// label.
type ShowSpec struct{ Label, Column string }

// displayed returns the displayed columns of a row. They are not part of the mapping: neither the
// source hash nor the fingerprint includes them, so that a row never counts as changed, or is sent,
// because of them.
func (j *Job) displayed(key string, get ColumnsOf) trade.Shown {
	if len(j.Spec.Show) == 0 {
		return trade.Shown{}
	}
	texts := make([]trade.ShownText, len(j.Spec.Show))
	for i, s := range j.Spec.Show {
		texts[i].Label = s.Label
		if v, ok := get(s.Column); ok && v.Err == "" {
			texts[i].Text = PlainText(v)
		}
	}
	return trade.NewShown(key, texts)
}

// Named reports whether a value in a column is one that the configuration or the API names: a code of
// a value map of an enumeration, one that counts as empty or cancelled, a unit, a harvest, a day. Such
// a value has a meaning of its own for the rules, and none for a person.
func (j *Job) Named(column string, v erp.Value) bool {
	text := PlainText(v)
	switch {
	case v.Err != "":
		return false
	case text == "", v.Kind == erp.Bool, v.Kind == erp.Date, v.Kind == erp.Timestamp, v.Kind == erp.Instant:
		return true
	case j.Spec.Cancelled != nil && strings.EqualFold(j.Spec.Cancelled.Column, column) && j.Cancelled[Fold(text)]:
		return true
	}
	for i := range j.Mapping.Fields {
		f := &j.Mapping.Fields[i]
		if containsFold(f.Spec.Columns, column) && f.names(v, text) {
			return true
		}
		if f.per == nil || !containsFold(f.per.Spec.Columns, column) {
			continue
		}
		unit, _ := f.per.read(v, text)
		if f.per.isEmpty(v, text) || trade.Unit(strings.ToUpper(unit)).Known() {
			return true
		}
	}
	return false
}

// names is [Job.Named] for one field.
func (f *fieldMapping) names(v erp.Value, text string) bool {
	if f.isEmpty(v, text) {
		return true
	}
	if len(f.Spec.SentBy) > 0 || f.Spec.Ref != "" || f.Spec.Lookup != "" {
		return false
	}
	to, problem := f.read(v, text)
	return problem == nil && namedText(f.Rule, to)
}

// namedText reports whether a text that is sent in a field says nothing of a person: a value of an
// enumeration, a day, a harvest.
func namedText(rule trade.FieldRule, text string) bool {
	switch rule.Type {
	case trade.Enum:
		return slices.Contains(rule.Values, text)
	case trade.Day:
		_, err := trade.ParseDate(text)
		return err == nil
	case trade.Harvest:
		return trade.IsHarvest(text)
	}
	return false
}
