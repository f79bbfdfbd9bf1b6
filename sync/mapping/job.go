// A job of the configuration, checked and compiled.

package mapping

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/trade"
)

// Job is a compiled [JobSpec].
type Job struct {
	Spec      JobSpec
	Mapping   *Mapping
	Sweep     cron.Schedule
	Hours     clock.Hours
	Cancelled map[string]bool // values that mean cancelled, folded
	Query     erp.Query
	source    string // fingerprint of the query, the key and the mapped columns
	Identity  trade.Identity
	facts     factColumns
}

// Compile checks a job and compiles it. All faults are joined in the error; each is a *SpecError.
func Compile(spec JobSpec, zone *time.Location) (*Job, error) {
	path := "jobs." + spec.Name
	var errs []error
	if !slices.Contains(trade.Kinds, spec.Sends) {
		errs = append(errs, SpecFault(path+".sends",
			"%q is not what this version sends", spec.Sends))
	}
	if strings.TrimSpace(spec.Query) == "" {
		errs = append(errs, SpecFault(path+".query", "the query is empty"))
	}
	if len(spec.Key) == 0 {
		errs = append(errs, SpecFault(path+".key", "name the columns that identify a row"))
	}
	j := &Job{Spec: spec, Cancelled: map[string]bool{}}
	var mappingErrs []error
	j.Mapping, mappingErrs = compileMapping(spec, zone)
	j.facts = j.factColumns()
	errs = append(errs, mappingErrs...)
	var err error
	j.Sweep, err = clock.ParseSchedule(spec.Sweep, zone)
	if err != nil {
		errs = append(errs, SpecFault(path+".sweep", "%w", err))
	}
	j.Hours, err = clock.ParseHours(spec.Hours)
	if err != nil {
		errs = append(errs, SpecFault(path+".hours", "%w", err))
	}
	if spec.Cancelled != nil {
		for _, v := range spec.Cancelled.Values {
			j.Cancelled[Fold(v)] = true
		}
	}
	j.Query = erp.Query{
		SQL: spec.Query, Key: spec.Key, ChangedAt: spec.ChangedAt, Columns: j.Columns(), Job: spec.Name,
	}
	for _, s := range spec.Show { // what people are shown is read, too
		j.Query.Columns = append(j.Query.Columns, s.Column)
	}
	j.source = Fingerprint(spec.Query, spec.Key, spec.ChangedAt, j.Mapping.Columns)
	j.Identity = trade.Identity{Tables: erp.Tables(spec.Query), Space: spec.Identity}
	for _, column := range spec.Key {
		j.Identity.Key = append(j.Identity.Key, strings.ToLower(column))
	}
	return j, errors.Join(errs...)
}

// Fingerprint returns a text that changes with everything that decides which rows are read and how
// they are mapped.
func (j *Job) Fingerprint() string { return j.source + j.Mapping.Fingerprint }

// Name returns the job's name in the configuration.
func (j *Job) Name() string { return j.Spec.Name }

// CheckColumns returns an error if the query lacks a column that the job uses.
func (j *Job) CheckColumns(columns []erp.Column) error {
	have := map[string]bool{}
	var names []string
	for _, c := range columns {
		have[strings.ToLower(c.Name)] = true
		names = append(names, c.Name)
	}
	path := "jobs." + j.Spec.Name
	var errs []error
	need := func(column, place string) {
		if column != "" && !have[strings.ToLower(column)] {
			errs = append(errs, SpecFault(place,
				"column %s is not in the query, which has %s", column, strings.Join(names, ", ")))
		}
	}
	for _, c := range j.Spec.Key {
		need(c, path+".key")
	}
	need(j.Spec.ChangedAt, path+".changed_at")
	if j.Spec.Cancelled != nil {
		need(j.Spec.Cancelled.Column, path+".cancelled.column")
	}
	need(j.Spec.Invalid, path+".invalid")
	for _, s := range j.Spec.Show {
		need(s.Column, path+".show."+s.Label)
	}
	for _, f := range j.Mapping.Fields {
		for _, c := range f.Spec.Reads() {
			need(c, path+".fields."+f.Rule.Field)
		}
	}
	return errors.Join(errs...)
}

// ContractInKey returns the columns with which the key of a job of deliveries includes the
// contract; none if it does not. With such a key a delivery that is transferred to another
// contract, which happens daily, would be a new row and would be sent a second time.
func (j *Job) ContractInKey() []string {
	return j.ContractColumns(func(string) bool { return true })
}

// ContractColumns is ContractInKey for only those columns for which tells is true.
func (j *Job) ContractColumns(tells func(column string) bool) []string {
	if j.Spec.Sends != trade.Deliveries {
		return nil
	}
	for _, f := range j.Mapping.Fields {
		for _, p := range f.Spec.SentBy {
			columns := slices.DeleteFunc(slices.Clone(p.Columns), func(c string) bool {
				_, constant := ConstOf(c)
				return constant || !tells(c)
			})
			if len(columns) > 0 && !slices.ContainsFunc(columns,
				func(c string) bool { return !containsFold(j.Spec.Key, c) }) {
				return columns
			}
		}
	}
	return nil
}

// PositionsInKey returns the columns of the key that the query numbers by ROW_NUMBER. They identify
// nothing: when a row is inserted or deleted, all rows after it get other keys.
func (j *Job) PositionsInKey() []string {
	var out []string
	for _, column := range j.Spec.Key {
		counted := regexp.MustCompile(`(?is)\brow_number\s*\(.*?\)\s*(as\s+)?["\[\x60]?` +
			regexp.QuoteMeta(column) + `\b`)
		if counted.MatchString(j.Spec.Query) {
			out = append(out, column)
		}
	}
	return out
}

// containsFold reports whether names contains name, ignoring case.
func containsFold(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}

// isCancelled reports whether a row is cancelled in the ERP.
func (j *Job) isCancelled(get ColumnsOf) bool {
	if j.Spec.Cancelled == nil {
		return false
	}
	v, ok := get(j.Spec.Cancelled.Column)
	return ok && v.Err == "" && v.Kind != erp.Null && j.Cancelled[Fold(PlainText(v))]
}

// declared returns the problem that the query itself states for a row in the column of `invalid:`;
// nil if it states none.
func (j *Job) declared(get ColumnsOf) *trade.Problem {
	if j.Spec.Invalid == "" {
		return nil
	}
	p := &trade.Problem{Field: "invalid", Rule: trade.RuleDeclared, Column: j.Spec.Invalid, Mapping: true}
	v, _ := get(j.Spec.Invalid)
	if v.Err != "" {
		p.Rule, p.Detail = trade.RuleUnreadable, v.Err
		return p
	}
	p.Detail = phrase.Packed(trade.MaskDocuments(shorten(PlainText(v))))
	if p.Detail == "" {
		return nil
	}
	return p
}

// NoTime is the zero time: nothing is scheduled.
var NoTime time.Time

// Columns returns the columns of the query that the job uses: those of the key first, then those of
// the mapping and of `cancelled`, sorted.
func (j *Job) Columns() []string {
	out := slices.Clone(j.Spec.Key)
	for _, c := range j.Mapping.Columns {
		if !containsFold(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// LacksForCompra returns the fields that each COMPRA must have and that are not mapped, so that no
// COMPRA row can be valid. It returns none if the mapping never makes a COMPRA.
func (j *Job) LacksForCompra() (missing []string) {
	f, compra := j.Spec.Fields["order_type"], string(trade.Compra)
	is := func(text *string) bool { return text != nil && *text == compra }
	asItIs := len(f.Columns) > 0 && len(f.Values) == 0
	if j.Spec.Sends != trade.OrderCommitments || !is(f.Const) && !is(f.Default) && !asItIs &&
		!slices.Contains(slices.Collect(maps.Values(f.Values)), compra) {
		return nil
	}
	for _, rule := range trade.Rules(j.Spec.Sends) {
		if _, mapped := j.Spec.Fields[rule.Field]; !mapped && rule.Need == trade.ForCompra {
			missing = append(missing, rule.Field)
		}
	}
	return missing
}
