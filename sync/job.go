package sync

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/trade"
)

// Job is a compiled [JobSpec].
type Job struct {
	Spec      JobSpec
	mapping   *Mapping
	sweep     cron.Schedule
	hours     Hours
	cancelled map[string]bool // folded values
	query     erp.Query
	source    string // fingerprint of the query, the key and the mapped columns
	identity  trade.Identity
}

// Compile checks a job and makes it executable. All faults are joined in the error; each is a *SpecError.
func Compile(spec JobSpec, zone *time.Location) (*Job, error) {
	path := "jobs." + spec.Name
	var errs []error
	if !slices.Contains(trade.Kinds, spec.Sends) {
		errs = append(errs, &SpecError{path + ".sends", fmt.Sprintf("%q is not what this version sends", spec.Sends)})
	}
	if strings.TrimSpace(spec.Query) == "" {
		errs = append(errs, &SpecError{path + ".query", "the query is empty"})
	}
	if len(spec.Key) == 0 {
		errs = append(errs, &SpecError{path + ".key", "name the columns that identify a row"})
	}
	j := &Job{Spec: spec, cancelled: map[string]bool{}}
	var mappingErrs []error
	j.mapping, mappingErrs = compileMapping(spec)
	errs = append(errs, mappingErrs...)
	var err error
	if j.sweep, err = ParseSchedule(spec.Sweep, zone); err != nil {
		errs = append(errs, &SpecError{path + ".sweep", err.Error()})
	}
	if j.hours, err = ParseHours(spec.Hours); err != nil {
		errs = append(errs, &SpecError{path + ".hours", err.Error()})
	}
	if spec.Cancelled != nil {
		for _, v := range spec.Cancelled.Values {
			j.cancelled[fold(v)] = true
		}
	}
	j.query = erp.Query{SQL: spec.Query, Key: spec.Key, ChangedAt: spec.ChangedAt, Job: spec.Name}
	j.source = fingerprint(spec.Query, spec.Key, spec.ChangedAt, j.mapping.columns)
	j.identity = trade.Identity{Tables: erp.Tables(spec.Query), Space: spec.Identity}
	for _, column := range spec.Key {
		j.identity.Key = append(j.identity.Key, strings.ToLower(column))
	}
	return j, errors.Join(errs...)
}

// fingerprint changes with everything that decides which rows are read, and what is made of them.
func (j *Job) fingerprint() string { return j.source + j.mapping.fingerprint }

// Name is the job's name in the configuration.
func (j *Job) Name() string { return j.Spec.Name }

// checkColumns compares the mapping with the columns that the query has.
func (j *Job) checkColumns(columns []erp.Column) error {
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
			errs = append(errs, &SpecError{place, fmt.Sprintf("column %s is not in the query, which has %s", column, strings.Join(names, ", "))})
		}
	}
	for _, c := range j.Spec.Key {
		need(c, path+".key")
	}
	need(j.Spec.ChangedAt, path+".changed_at")
	if j.Spec.Cancelled != nil {
		need(j.Spec.Cancelled.Column, path+".cancelled.column")
	}
	for _, f := range j.mapping.fields {
		for _, c := range f.spec.Columns {
			need(c, path+".fields."+f.rule.Field)
		}
	}
	return errors.Join(errs...)
}

// ContractInKey gives the columns by which the key of a job of deliveries names the contract; none when it does not. A delivery that is transferred to
// another contract, which is daily business, would be a new row then, and would go a second time.
func (j *Job) ContractInKey() []string {
	return j.contractInKey(func(string) bool { return true })
}

// contractInKey looks only at the columns that tell contracts apart.
func (j *Job) contractInKey(tells func(column string) bool) []string {
	if j.Spec.Sends != trade.Deliveries {
		return nil
	}
	for _, f := range j.mapping.fields {
		for _, p := range f.spec.SentBy {
			columns := slices.DeleteFunc(slices.Clone(p.Columns), func(c string) bool { return !tells(c) })
			if len(columns) > 0 && !slices.ContainsFunc(columns, func(c string) bool { return !containsFold(j.Spec.Key, c) }) {
				return columns
			}
		}
	}
	return nil
}

// PositionsInKey returns the columns of the key that the query counts by ROW_NUMBER. They are no identity: a row that is inserted or deleted gives all that follow
// other keys.
func (j *Job) PositionsInKey() []string {
	var out []string
	for _, column := range j.Spec.Key {
		counted := regexp.MustCompile(`(?is)\brow_number\s*\(.*?\)\s*(as\s+)?["\[\x60]?` + regexp.QuoteMeta(column) + `\b`)
		if counted.MatchString(j.Spec.Query) {
			out = append(out, column)
		}
	}
	return out
}

func containsFold(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}

// isCancelled tells whether the ERP calls a row cancelled.
func (j *Job) isCancelled(get columnsOf) bool {
	if j.Spec.Cancelled == nil {
		return false
	}
	v, ok := get(j.Spec.Cancelled.Column)
	return j.cancels(v, ok)
}

// cancels tells whether a value of the column of `cancelled`, if the row has it, says that the row is cancelled.
func (j *Job) cancels(v erp.Value, ok bool) bool {
	return ok && v.Err == "" && v.Kind != erp.Null && j.cancelled[fold(plainText(v))]
}

// choice says which of the rows of one key counts.
type choice struct {
	row    *erp.Row // the only living one, or one of several that are all cancelled; nil: none, or several living ones
	living int
}

// choose tells which of the rows of one key counts. A cancelled row beside a living one is its past, as soft deletes leave it. Whatever looks at single
// rows asks here; a reading of many does the same with its roll.
func (j *Job) choose(rows []erp.Row) choice {
	live := j.living(rows)
	c := choice{living: len(live)}
	switch {
	case len(live) == 1:
		c.row = &live[0]
	case len(live) == 0 && len(rows) > 0:
		c.row = &rows[0]
	}
	return c
}

// cancelled tells that only cancelled rows have the key.
func (c choice) cancelled() bool { return c.row != nil && c.living == 0 }

// living leaves out the rows that the ERP calls cancelled.
func (j *Job) living(rows []erp.Row) []erp.Row {
	var out []erp.Row
	for _, row := range rows {
		if !j.isCancelled(row.Get) {
			out = append(out, row)
		}
	}
	return out
}

// values keeps the columns of a row that the mapping uses, and no other (LGPD: necessity).
func (j *Job) values(get columnsOf) trade.Values {
	out := make(trade.Values, len(j.mapping.columns))
	for _, name := range j.mapping.columns {
		if v, ok := get(name); ok {
			out[name] = cellOf(v)
		}
	}
	return out
}
