// Mapping cases: one row is judged without ERP, network or ledger.

package dryrun

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// Case is a row with everything on which its mapping may depend: enough to try the mapping without
// ERP, network or ledger.
type Case struct {
	Row        map[string]erp.Value         // by column: exactly those of mapping.Job.Columns
	References map[string]map[string]string // de-para kind → code → platform id
	Parents    map[string]map[string]string // job → key → platform id, for fields with `sent_by`
	Today      trade.Date                   // the day for checks of dates
}

// Try maps and checks the row of a case. The error is for a case that does not fit the job: columns
// too many or too few, or an unusable key.
func Try(j *mapping.Job, c Case) (Judged, error) {
	// a misspelled name must not look like a missing value
	var errs []error
	have := map[string]bool{}
	for name := range c.Row {
		have[strings.ToLower(name)] = true
	}
	used := j.Columns()
	for _, name := range used {
		if !have[strings.ToLower(name)] {
			errs = append(errs, mapping.SpecFault("row",
				"column %s, which job %s uses, is missing; write `%s: null` for NULL", name, j.Name(), name))
		}
		delete(have, strings.ToLower(name))
	}
	for name := range c.Row {
		if have[strings.ToLower(name)] {
			errs = append(errs, mapping.SpecFault("row."+name,
				"job %s does not use this column; it uses %s", j.Name(), strings.Join(used, ", ")))
		}
	}
	for kind := range c.References {
		if !slices.Contains(j.Mapping.Refs, kind) && (kind != trade.ProducerByDocument || len(j.Mapping.Lookups) == 0) {
			errs = append(errs, mapping.SpecFault("refs."+kind,
				"no field of job %s has this ref", j.Name()))
		}
	}
	for name := range c.Parents {
		if !slices.Contains(j.Mapping.SentBy, name) {
			errs = append(errs, mapping.SpecFault("parents."+name,
				"no field of job %s comes from what job %s has sent (sent_by)", j.Name(), name))
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	if err := errors.Join(errs...); err != nil {
		return Judged{}, err
	}
	names, values := make([]string, 0, len(c.Row)), make([]erp.Value, 0, len(c.Row))
	for name, value := range c.Row {
		names, values = append(names, name), append(values, value)
	}
	row, err := j.Row(erp.NewRow(names, values))
	if err != nil {
		return Judged{}, phrase.Errorf("row: %w; a run would count it as unreadable", err)
	}
	parents := mapping.Parents{} // as accepted rows
	for job, table := range c.Parents {
		for key, id := range table {
			parents[trade.ParentKey{Job: job, Key: key}] = trade.Parent{State: trade.Accepted, RemoteID: id}
		}
	}
	got := judged(evaluatorOf(j, c.References, c.Today), parents, row.Values())
	got.Key, got.Cancelled = row.Key, row.Cancelled
	return got, nil
}

// doubleError is the error for a key that stands several times in the ERP.
type doubleError struct{ why trade.Sentence }

func (e *doubleError) Error() string { return e.why.String() }

// Sentence returns what is told of it.
func (e *doubleError) Sentence() trade.Sentence { return e.why }

// CaseOf returns a case for a row as it is in the ERP now, with the references that it uses. It
// stores and sends nothing.
func (e *Rehearsal) CaseOf(ctx context.Context, jobName, key string) (Case, error) {
	job, err := e.env.Job(jobName)
	if err != nil {
		return Case{}, err
	}
	found, err := e.rowsUnderKey(ctx, job, key)
	switch {
	case err != nil:
		return Case{}, err
	case found.Living > 1:
		return Case{}, &doubleError{trade.Double(key, found.Living)}
	case found.Row == nil:
		return Case{}, notInQuery(jobName, key)
	}
	r, err := e.loaded(ctx, job, false)
	if err != nil {
		return Case{}, err
	}
	known, err := r.ParentsOf(ctx, []trade.Values{found.Row.Values()})
	if err != nil {
		return Case{}, err
	}
	// a producer that was looked up stands under the document, or under its code if the row has
	// no more than that
	refs := mapping.Codes{}
	if answers := r.Eval.AnswersOf(found.Row.Get); len(answers) > 0 {
		refs[trade.ProducerByDocument] = answers
	}
	for i := range r.Eval.Job.Mapping.Fields {
		f := &r.Eval.Job.Mapping.Fields[i]
		if f.Spec.Ref == "" {
			continue
		}
		_, _, missing := f.Apply(found.Row.Get, nil, nil) // without references every code is missing
		if missing == nil {
			continue
		}
		if id, ok := r.Eval.Refs[missing.Ref][missing.Code]; ok {
			if refs[missing.Ref] == nil {
				refs[missing.Ref] = map[string]string{}
			}
			refs[missing.Ref][missing.Code] = id
		}
	}
	c := Case{
		Row: map[string]erp.Value{}, References: refs,
		Parents: map[string]map[string]string{}, Today: r.Eval.Today,
	}
	for _, name := range job.Columns() {
		if v, ok := found.Row.Get(name); ok {
			c.Row[name] = v
		}
	}
	for at, parent := range known {
		if parent.RemoteID == "" {
			continue
		}
		if c.Parents[at.Job] == nil {
			c.Parents[at.Job] = map[string]string{}
		}
		c.Parents[at.Job][at.Key] = parent.RemoteID
	}
	return c, nil
}
