package mapping

import (
	"fmt"
	"strings"

	"github.com/safrasync/safrasync/trade"
)

// ShowSpec is a column of the query that people are shown before the key of a row, under a label.
type ShowSpec struct{ Label, Column string }

// checkShow refuses more labels than a line has room for, and a column of a document that is looked
// up: of it only a keyed hash may be kept.
func (m *Mapping) checkShow(spec JobSpec, path string) []error {
	var errs []error
	if len(spec.Show) > trade.MaxShown {
		errs = append(errs, &SpecError{
			path,
			fmt.Sprintf("has %d labels, at most %d fit", len(spec.Show), trade.MaxShown),
		})
	}
	for _, s := range spec.Show {
		for _, f := range m.Lookups {
			if strings.EqualFold(f.Spec.Columns[0], s.Column) {
				errs = append(errs, &SpecError{
					path + "." + s.Label,
					fmt.Sprintf("column %s is a document that %s looks up, which the ledger does not keep",
						s.Column, f.Rule.Field),
				})
			}
		}
	}
	return errs
}

// Shown returns what people are shown of a row. It is no part of the mapping: it is in no source
// hash and no fingerprint, so that a row never counts as changed for it, and is never sent for it.
func (j *Job) Shown(key string, get ColumnsOf) trade.Shown {
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
