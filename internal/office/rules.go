package office

import (
	"context"
	"fmt"
	"strings"

	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/sync/dryrun"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// JobRules is everything that is expected of the rows of a job, as data and as sentences.
type JobRules struct {
	Job       string         `json:"job"`
	Sends     trade.Kind     `json:"sends"`
	Key       []string       `json:"key"`
	ChangedAt *string        `json:"changed_at"`
	Cancelled *CancelledRule `json:"cancelled"`
	Invalid   string         `json:"invalid,omitempty"` // the column whose text makes a row an error
	Fields    []FieldRule    `json:"fields"`
	ERP       *dryrun.Audit  `json:"erp"` // null with --offline, or if the ERP could not be read

	Identity string         `json:"identity,omitempty"` // key space; absent: the one shared by all jobs that name none
	Twin     trade.Severity `json:"twin"`               // what happens to equal rows
	NearTwin trade.Severity `json:"near_twin"`          // and to rows that are equal in the required fields
	TwinDays int            `json:"twin_days"`
}

// CancelledRule is how the ERP marks a row as cancelled.
type CancelledRule struct {
	Column string   `json:"column"`
	Values []string `json:"values"`
}

// RulesOf returns the rules of a job, in words of a reader. They come from the configuration alone.
func RulesOf(v words.Voice, job mapping.JobSpec) JobRules {
	out := JobRules{
		Job: job.Name, Sends: job.Sends, Key: job.Key, Identity: job.Identity, Invalid: job.Invalid,
		Twin: job.Twin.Mode, NearTwin: job.Twin.Near, TwinDays: job.Twin.Days, Fields: []FieldRule{},
	}
	if job.ChangedAt != "" {
		out.ChangedAt = &job.ChangedAt
	}
	if c := job.Cancelled; c != nil {
		out.Cancelled = &CancelledRule{c.Column, c.Values}
	}
	for _, rule := range trade.Rules(job.Sends) {
		spec, mapped := job.Fields[rule.Field]
		field := FieldRule{
			Field: rule.Field, Type: rule.Type, Allowed: OrEmpty(rule.Values), Required: words.RequiredWhen(rule),
			Source: "column", Columns: OrEmpty(spec.Columns), Const: spec.Const, Default: spec.Default,
			Empty: OrEmpty(spec.Empty), In: spec.In, Checks: []FieldCheck{},
		}
		check := func(applies bool, name string, text i18n.Key, args ...any) {
			if applies {
				field.Checks = append(field.Checks, FieldCheck{name, job.Checks.Severity(name), v.Text(text, args...)})
			}
		}
		check(rule.Positive != "", rule.Positive, "must be above zero")
		check(rule.Type == trade.Day, "date_window", "must be between 2000-01-01 and five years from today")
		check(rule.Type == trade.Harvest, "date_window", "the second year must be the first or the one after it")
		check(rule.NotBefore != "", "date_order", "must not be before %s", rule.NotBefore)
		check(rule.Type == trade.CAR, "car", "must be a whole CAR number")
		if spec.Ref != "" {
			field.Ref = &spec.Ref
		}
		if len(spec.Values) > 0 {
			field.Values = &spec.ValuesName
		}
		switch {
		case !mapped:
			field.Source = "none"
		case spec.Const != nil:
			field.Source = "const"
		}
		field.Sentences = append(field.Sentences, sourceOf(v, rule, spec, field.Source), formOf(v, rule))
		switch field.Required {
		case "always":
			field.Sentences = append(field.Sentences, v.Text("always required"))
		case "never":
			field.Sentences = append(field.Sentences, v.Text("optional: if empty, it is not sent"))
		default:
			field.Sentences = append(field.Sentences, v.Text("required when %s; in other rows it is sent if present", field.Required))
			if field.Source == "none" {
				field.Sentences = append(field.Sentences, v.Text("CAUTION: without a mapping every row with %s is refused", field.Required))
			}
		}
		for _, c := range field.Checks {
			field.Sentences = append(field.Sentences, c.Text+" "+v.Text("severity."+string(c.Severity)))
		}
		out.Fields = append(out.Fields, field)
	}
	return out
}

// Audit reads all rows of a job in the ERP and counts which break which rule. each, if not nil, is
// called for each row that does not go as it is. It needs an engine, and stores and sends nothing.
func (o *Office) Audit(ctx context.Context, job string,
	each func(dryrun.Judgement) error,
) (dryrun.Audit, error) {
	compiled, err := o.engine.Job(job)
	if err != nil {
		return dryrun.Audit{}, err
	}
	return o.engine.Audit(ctx, compiled, each)
}

// FieldRule is everything that is expected of one field, as data and as sentences.
type FieldRule struct {
	Field     string          `json:"field"`
	Type      trade.FieldType `json:"type"`
	Allowed   []string        `json:"allowed"`  // the values of an enumeration
	Required  string          `json:"required"` // always, never, or the condition, as in order_type = COMPRA
	Source    string          `json:"source"`   // column, const, none
	Columns   []string        `json:"columns"`
	Const     *string         `json:"const"`
	Values    *string         `json:"values"` // name of the value map; "" for one in the field itself
	Ref       *string         `json:"ref"`
	Default   *string         `json:"default"`
	Empty     []string        `json:"empty"`
	In        string          `json:"in,omitempty"` // the field with the unit to which a price is converted
	Checks    []FieldCheck    `json:"checks"`
	Sentences []string        `json:"sentences"`
}

// FieldCheck is a plausibility check of a field with its severity.
type FieldCheck struct {
	Check    string         `json:"check"` // name under `checks:`
	Severity trade.Severity `json:"severity"`
	Text     string         `json:"text"`
}

// sourceOf returns a sentence about where a field comes from and how its value is converted.
func sourceOf(v words.Voice, rule trade.FieldRule, spec mapping.FieldSpec, source string) string {
	switch source {
	case "none":
		return v.Text("the configuration does not map it: it is never sent")
	case "const":
		return v.Text("is always «%s»", *spec.Const)
	}
	column := i18n.Key("from column %s")
	if len(spec.Columns) > 1 {
		column = "from the columns %s"
	}
	var from []string
	for _, column := range spec.Columns {
		if text, constant := mapping.ConstOf(column); constant {
			column = v.Text("always “%s”", text)
		}
		from = append(from, column)
	}
	parts := []string{v.Text(column, strings.Join(from, " | "))}
	if spec.Ref != "" {
		parts = append(parts, v.Text("the de-para %s turns the code into the platform's id; without it the row waits", spec.Ref))
	}
	if len(spec.SentBy) > 0 {
		jobs := trade.Map(spec.SentBy, func(p mapping.ParentSpec) string { return p.Job })
		parts = append(parts, v.Text("is the key of a row of %s; that row's platform id is sent, and until it has one this row waits", strings.Join(jobs, ", ")))
	}
	if len(spec.Values) > 0 {
		var pairs []string
		for i, from := range config.SortedKeys(spec.Values) {
			if i == shownPairs {
				pairs = append(pairs, fmt.Sprintf("… %d", len(spec.Values)))
				break
			}
			pairs = append(pairs, from+" → "+spec.Values[from])
		}
		shown := strings.TrimSpace(spec.ValuesName + " (" + strings.Join(pairs, ", ") + ")")
		parts = append(parts, v.Text("converted by the map %s; a value that is not in the map makes the row invalid", shown))
	}
	switch {
	case spec.Date != "":
		parts = append(parts, v.Text("written as %s", spec.Date))
	case rule.Type == trade.Day && len(spec.Values) == 0:
		parts = append(parts, v.Text("a date of the database, or text YYYY-MM-DD"))
	}
	switch {
	case spec.Number != "":
		parts = append(parts, v.Text("rule.number_form", spec.Number))
	case rule.Type == trade.Number && len(spec.Values) == 0:
		parts = append(parts, v.Text("a number of the database, or text like 1234.56"))
	}
	if spec.Per != nil {
		source := "column"
		if spec.Per.Const != nil {
			source = "const"
		}
		unit := sourceOf(v, trade.FieldRule{}, *spec.Per, source)
		parts = append(parts, v.Text("the ERP's price is for a unit (%s) and is converted, without rounding, to the unit of %s", unit, spec.In))
	}
	if spec.Scale != nil {
		parts = append(parts, v.Text("rounded to %d digits", *spec.Scale))
	}
	if len(spec.Empty) > 0 {
		parts = append(parts, v.Text("these also count as empty: %s", strings.Join(spec.Empty, ", ")))
	}
	if spec.Default != nil {
		parts = append(parts, v.Text("if empty, «%s» is sent", *spec.Default))
	}
	return strings.Join(parts, "; ")
}

// formOf returns a sentence about the form that the API expects.
func formOf(v words.Voice, rule trade.FieldRule) string {
	switch rule.Type {
	case trade.Number:
		return v.Text("form: an exact decimal number")
	case trade.UUID:
		return v.Text("form: a platform id (UUID)")
	case trade.Enum:
		return v.Text("form: one of %s", strings.Join(rule.Values, ", "))
	case trade.Day:
		return v.Text("form: a date YYYY-MM-DD")
	case trade.Harvest:
		return v.Text("form: year/year, as in 2025/2026 or 2026/2026")
	case trade.Text:
		return v.Text("form: text")
	case trade.CAR:
		return v.Text("form: a CAR number, UF-NNNNNNN-32 hex digits; dots and lower-case letters are accepted")
	}
	return v.Text("form: %s", rule.Type)
}

// shownPairs is how many pairs of a value map are printed.
const shownPairs = 8
