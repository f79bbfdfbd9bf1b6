// The columns that are displayed to people before the key of a row.

package mapping

import (
	"strings"

	"github.com/safrasync/safrasync/trade"
)

// ShowSpec is a column of the query that is displayed to people before the key of a row, with a
// label.
type ShowSpec struct{ Label, Column string }

// checkShow refuses more labels than fit on a line, and a column with a document that is looked up:
// only a keyed hash of it may be stored.
func (m *Mapping) checkShow(spec JobSpec, path string) []error {
	var errs []error
	if len(spec.Show) > trade.MaxShown {
		errs = append(errs, SpecFault(path,
			"has %d labels, at most %d fit", len(spec.Show), trade.MaxShown))
	}
	for _, s := range spec.Show {
		for _, f := range m.Lookups {
			if strings.EqualFold(f.Spec.Columns[0], s.Column) {
				errs = append(errs, SpecFault(path+"."+s.Label,
					"column %s is a document that %s looks up, which the ledger does not keep", s.Column, f.Rule.Field))
			}
		}
	}
	return errs
}

// shown returns the displayed columns of a row. They are not part of the mapping: neither the
// source hash nor the fingerprint includes them, so that a row never counts as changed, or is sent,
// because of them.
func (j *Job) shown(key string, get ColumnsOf) trade.Shown {
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
