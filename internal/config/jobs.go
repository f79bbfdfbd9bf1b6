package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

var plainName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,62}$`)

func (c *Config) checkJob(d *Decoder, job JobConfig, path string) {
	d.Require(path, map[string]bool{
		"sends": job.Sends == "", "query": job.Query == "", "key": len(job.Key) == 0,
		"fields": len(job.Fields) == 0,
	})
	c.checkQuery(d, path+".query", job.Query)
	if job.Sends != "" && !slices.Contains(trade.Kinds, trade.Kind(job.Sends)) {
		can := trade.Map(trade.Kinds, func(k trade.Kind) string { return string(k) })
		d.Fault(path+".sends", "%w", phrase.New("%s is not what this version can send; it sends %s", ShortName(job.Sends), strings.Join(can, ", ")))
	}
	for key, text := range map[string]string{"schedule": job.Schedule, "sweep": job.Sweep} {
		if at := path + "." + key; !d.faulty(at) {
			if _, err := clock.ParseSchedule(text, c.zone); err != nil {
				d.Fault(at, "%w", err)
			}
		}
	}
	if job.Identity != "" && !plainName.MatchString(job.Identity) {
		d.Fault(path+".identity", "is a name: letters, digits, _ and -, beginning with a letter, at most 63 characters")
	}
	if utf8.RuneCountInString(job.Title) > maxTitle || strings.ContainsAny(job.Title, "\r\n") {
		d.Fault(path+".title", "is a title of one line and at most %d characters", maxTitle)
	}
	c.checkLimits(d, job, path)
	if job.Cancelled != nil {
		d.Require(path+".cancelled", map[string]bool{
			"column": job.Cancelled.Column == "",
			"values": len(job.Cancelled.Values) == 0,
		})
	}
	rules := trade.Rules(trade.Kind(job.Sends))
	if len(rules) == 0 || len(job.Fields) == 0 {
		return
	}
	names := trade.Map(rules, func(rule trade.FieldRule) string { return rule.Field })
	for name := range job.Fields {
		if !slices.Contains(names, name) {
			d.Unknown("unknown field %s", path+".fields", d.Index[path+".fields."+name], names)
		}
	}
	for _, rule := range rules {
		at := path + ".fields." + rule.Field
		if field, mapped := job.Fields[rule.Field]; mapped {
			c.checkField(d, rule, field, at)
		} else if rule.Need == trade.Always && !d.Meant[at] {
			d.Fault(at, "is required for every record and is not mapped")
		}
	}
}

// checkField checks the combination of the keys of one field.
func (c *Config) checkField(d *Decoder, rule trade.FieldRule, f FieldConfig, path string) {
	if d.faulty(path) {
		return
	}
	hasValues := f.Values.Name != "" || f.Values.Inline != nil
	switch {
	case len(f.SentBy) > 0:
		// Faults that need all jobs to see are found by engine.Order.
		for i, p := range f.SentBy {
			at := path + ".sent_by"
			if len(f.SentBy) > 1 {
				at = fmt.Sprintf("%s[%d]", at, i)
			}
			if p.Job == "" {
				d.Fault(at, "needs the name of a job")
			}
			if len(p.Column) == 0 && len(f.Column) == 0 {
				d.Fault(path, "needs the columns that hold the key of the row of job %s", ShortName(p.Job))
			}
		}
		if f.Const != nil || hasValues || f.Default != nil || f.Ref != "" ||
			f.Date != "" || f.Number != "" || f.Scale != nil {
			d.Fault(path,
				"has a sent_by: the id comes only from the other job's row; only column and empty can be combined with it")
		}
	case f.Const != nil && len(f.Column) > 0:
		d.Fault(path, "has a column and a const; give one of them")
	case f.Const == nil && len(f.Column) == 0:
		d.Fault(path, "needs a column or a const")
	case f.Per != nil || f.In != "":
		c.checkPer(d, rule, f, path)
	case f.Const != nil && (hasValues || f.Default != nil || f.Date != "" || f.Number != "" || len(f.Empty) > 0 ||
		f.Scale != nil || f.Ref != "" || f.Lookup != ""):
		d.Fault(path, "has a const, which is sent as it is; the other keys say nothing beside it")
	case len(f.Column) > 1 && f.Ref == "":
		d.Fault(path+".column",
			"several columns make a code, which needs a ref or a sent_by; join texts in the query instead")
	case f.Ref != "" && !slices.Contains(trade.ReferenceKinds, f.Ref):
		d.Fault(path+".ref", "%w", UnknownName("unknown kind of reference %s", f.Ref, trade.ReferenceKinds))
	case f.Ref != "" && rule.Type != trade.UUID:
		d.Fault(path+".ref", "gives an id of the platform, and %s is none", rule.Field)
	case f.Ref != "" && hasValues:
		d.Fault(path, "has a ref and values; a code is looked up in one place only")
	case f.Values.Name != "" && c.Values[f.Values.Name] == nil:
		if !d.faulty("values") {
			d.Fault(path+".values", "%w (maps stand under values:)",
				UnknownName("unknown map %s", f.Values.Name, SortedKeys(c.Values)))
		}
	default:
		c.checkTexts(path, f.Const, f.Default, f.Values, func(at, text string) {
			if text == "" || d.faulty(at) {
				return
			}
			var err error
			switch rule.Type {
			case trade.Enum:
				if !slices.Contains(rule.Values, text) {
					d.Fault(at, "%s takes %s", rule.Field, strings.Join(rule.Values, ", "))
				}
			case trade.UUID:
				_, err = trade.ParseID(text)
			case trade.Number:
				_, err = trade.ParseDecimal(text)
			case trade.Day:
				_, err = trade.ParseDate(text)
			}
			if err != nil {
				d.Fault(at, "%w", err)
			}
		})
	}
}

// checkTexts calls check with every text that a field gives by itself, and with its place.
func (c *Config) checkTexts(path string, constant, absent *string, v FieldValues,
	check func(at, text string),
) {
	if constant != nil {
		check(path+".const", *constant)
	}
	if absent != nil {
		check(path+".default", *absent)
	}
	values, at := c.valuesOf(v, path)
	for _, from := range SortedKeys(values) {
		check(at+"."+from, values[from])
	}
}

// valuesOf returns the values of a field, and where they stand.
func (c *Config) valuesOf(v FieldValues, path string) (values map[string]string, at string) {
	if v.Name != "" {
		return c.Values[v.Name], "values." + v.Name
	}
	return v.Inline, path + ".values"
}

// checkPer checks a price that is converted from one unit to another.
func (c *Config) checkPer(d *Decoder, rule trade.FieldRule, f FieldConfig, path string) {
	switch {
	case rule.Field != "price":
		d.Fault(path, "%s is no price for a unit: per and in do not apply", rule.Field)
		return
	case f.Per == nil || f.In == "":
		d.Fault(path, "per and in belong together: the unit for which the ERP has the price, and the field with the unit of the record")
		return
	case len(f.Column) != 1 || f.Const != nil || f.Values.Name != "" || f.Values.Inline != nil || f.Ref != "" ||
		f.Lookup != "":
		d.Fault(path, "a price that is converted has one column; of the other keys number, empty, default and scale apply")
		return
	case f.In != "unit_of_measurement":
		d.Fault(path+".in", "%w", UnknownName("unknown field with a unit %s", f.In, []string{"unit_of_measurement"}))
	}
	per, at := *f.Per, path+".per"
	if (per.Column == "") == (per.Const == nil) && !d.faulty(at) {
		d.Fault(at, "needs a column or a const")
	}
	if per.Values.Name != "" && c.Values[per.Values.Name] == nil && !d.faulty("values") {
		d.Fault(at+".values", "%w (maps stand under values:)",
			UnknownName("unknown map %s", per.Values.Name, SortedKeys(c.Values)))
	}
	c.checkTexts(at, per.Const, per.Default, per.Values, func(place, text string) {
		if !trade.Unit(text).Known() {
			d.Fault(place, "must be SC, KG or TON")
		}
	})
}

// JobSpecs returns the jobs in file order, in the engine's form.
func (c *Config) JobSpecs() []mapping.JobSpec {
	checks := trade.Checks{
		Amount: trade.Severity(c.Checks.Amount), Price: trade.Severity(c.Checks.Price),
		Volume:    trade.Severity(c.Checks.Volume),
		DateOrder: trade.Severity(c.Checks.DateOrder), DateWindow: trade.Severity(c.Checks.DateWindow),
		CAR: trade.Severity(c.Checks.CAR),
	}
	if c.Checks.CAR == "strict" {
		checks.CAR = trade.Refuse
	}
	out := make([]mapping.JobSpec, 0, len(c.Jobs))
	for _, job := range c.Jobs {
		spec := mapping.JobSpec{
			Name: job.Name, Sends: trade.Kind(job.Sends), Show: job.Show,
			Schedule: job.Schedule, Query: erp.WithSnippets(c.ERP.Driver, job.Query, c.With), Key: job.Key,
			Identity: job.Identity, ChangedAt: job.ChangedAt,
			Cancelled: job.Cancelled, Invalid: job.Invalid,
			Lookback: job.Lookback, Sweep: job.Sweep, Fields: map[string]mapping.FieldSpec{}, Checks: checks,
			Hours: job.Hours, Most: job.Most.freight(), Canary: job.Canary,
			Twin: mapping.TwinCheck{
				Mode: trade.Severity(job.Checks.Twin), Near: trade.Severity(job.Checks.NearTwin),
				Days: job.Checks.TwinDays,
			},
		}
		for name, f := range job.Fields {
			values, _ := c.valuesOf(f.Values, "")
			// the columns of a field include those of its parents' keys
			var parents []mapping.ParentSpec
			columns := slices.Clone([]string(f.Column))
			for _, p := range f.SentBy {
				of := p.Column
				if len(of) == 0 {
					of = f.Column
				}
				parents = append(parents, mapping.ParentSpec{Job: p.Job, Columns: of})
				for _, column := range of {
					if !slices.Contains(columns, column) {
						columns = append(columns, column)
					}
				}
			}
			var per *mapping.FieldSpec // the unit of a price
			if p := f.Per; p != nil {
				values, _ := c.valuesOf(p.Values, "")
				per = &mapping.FieldSpec{Const: p.Const, ValuesName: p.Values.Name, Values: values, Default: p.Default}
				if p.Column != "" {
					per.Columns = []string{p.Column}
				}
			}
			spec.Fields[name] = mapping.FieldSpec{
				Per: per, In: f.In,
				Columns: columns, SentBy: parents, Const: f.Const, ValuesName: f.Values.Name, Values: values,
				Default: f.Default,
				Date:    f.Date, Number: f.Number, Scale: f.Scale, Empty: f.Empty, Ref: f.Ref, Lookup: f.Lookup,
			}
		}
		out = append(out, spec)
	}
	return out
}

// ReferenceSpecs returns the de-para kinds that are read from the ERP, in the order of
// trade.ReferenceKinds.
func (c *Config) ReferenceSpecs() []mapping.ReferenceSpec {
	var out []mapping.ReferenceSpec
	for _, kind := range trade.ReferenceKinds {
		if r, ok := c.References[kind]; ok {
			out = append(out, mapping.ReferenceSpec{
				Kind: kind, Query: erp.WithSnippets(c.ERP.Driver, r.Query, c.With),
				Code: r.Code, ID: r.ID, Label: r.Label,
			})
		}
	}
	return out
}

// EngineBrakes returns the brakes in the engine's form.
func (c *Config) EngineBrakes() run.Brakes {
	b := c.Brakes
	return run.Brakes{
		NewRows: b.NewRows, NewRowsLeast: b.NewRowsLeast, Retyped: b.Retyped,
		ChangedKey: b.ChangedKey == "pause", Absence: run.Absence,
	}
}

// Limits returns the engine's limits.
func (c *Config) Limits() run.Limits {
	return run.Limits{
		MaxInFlight: c.API.MaxInFlight, RateLimit: c.API.RateLimit, Strict: c.API.Doubt == "strict",
		StopAfterUnknown: c.API.StopAfterUnknown, Quarantine: c.API.Quarantine, Timeout: c.API.Timeout,
	}
}
