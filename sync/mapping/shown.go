// The columns that are displayed to people before the key of a row.

package mapping

import (
	"github.com/safrasync/safrasync/trade"
)

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
