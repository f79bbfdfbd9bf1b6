// Values that say nothing of a person: the configuration or the API names them.

package mapping

import (
	"slices"
	"strings"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/trade"
)

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
	return problem == nil && NamedText(f.Rule, to)
}

// NamedText reports whether a text that is sent in a field says nothing of a person: a value of an
// enumeration, a day, a harvest.
func NamedText(rule trade.FieldRule, text string) bool {
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
