package sync

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/trade"
)

// Case is a row with everything that its mapping may depend on: enough to try the mapping without ERP, network or ledger.
type Case struct {
	Row        map[string]erp.Value         // by column: exactly those of [Job.Columns]
	References map[string]map[string]string // de-para kind → code → platform id
	Parents    map[string]map[string]string // job → key → platform id, for fields with `sent_by`
	Today      trade.Date                   // against which dates are judged plausible
}

// Verdict is what the mapping and the rules make of a row.
type Verdict struct {
	Key        string
	State      trade.State     // pending (it would go), waiting or invalid
	Cancelled  bool            // the ERP calls it cancelled: it does not go, whatever the state
	Target     string          // the order commitment that the request's path names; "" for the other kinds
	Payload    json.RawMessage // the request's body; nil unless pending
	Problems   []trade.Problem // what keeps it from going
	Remarks    []trade.Problem // of checks set to `warn`
	WaitingFor []trade.Awaited
}

// Columns are those of the query that the job looks at: the key, and what the mapping and `cancelled` use; the key first, then sorted.
func (j *Job) Columns() []string {
	out := slices.Clone(j.Spec.Key)
	for _, c := range j.mapping.columns {
		if !containsFold(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// Try maps and checks the row of a case. The error is for a case that does not fit the job: a column too many or too few, a key that cannot be one.
func (j *Job) Try(c Case) (Verdict, error) {
	if err := j.checkCase(c); err != nil {
		return Verdict{}, err
	}
	names, values := make([]string, 0, len(c.Row)), make([]erp.Value, 0, len(c.Row))
	for name, value := range c.Row {
		names, values = append(names, name), append(values, value)
	}
	row := erp.NewRow(names, values)
	key, _, err := rowKey(row, j.Spec.Key)
	if err != nil {
		return Verdict{}, fmt.Errorf("row: %w; a run would count it as unreadable", err)
	}
	judged, err := newJudge(j, c.References, parentsOfCase(c.Parents), c.Today).rows(context.Background(), []trade.Values{j.values(row.Get)})
	if err != nil {
		return Verdict{}, err
	}
	got := judged[0].entry
	v := Verdict{Key: key, State: got.State, Cancelled: j.isCancelled(row.Get), Target: got.Target, Payload: got.Payload, Remarks: got.Warnings, WaitingFor: got.WaitingFor}
	if got.Error != nil {
		v.Problems = got.Error.Fields
	}
	return v, nil
}

// checkCase compares the columns, references and parents of a case with those that the job uses: a misspelled one must not look like a missing value.
func (j *Job) checkCase(c Case) error {
	var errs []error
	have := map[string]bool{}
	for name := range c.Row {
		have[strings.ToLower(name)] = true
	}
	used := j.Columns()
	for _, name := range used {
		if !have[strings.ToLower(name)] {
			errs = append(errs, &SpecError{"row", fmt.Sprintf("column %s, which job %s uses, is missing; write `%s: null` for NULL", name, j.Name(), name)})
		}
		delete(have, strings.ToLower(name))
	}
	for name := range c.Row {
		if have[strings.ToLower(name)] {
			errs = append(errs, &SpecError{"row." + name, fmt.Sprintf("job %s does not use this column; it uses %s", j.Name(), strings.Join(used, ", "))})
		}
	}
	for kind := range c.References {
		if !slices.Contains(j.mapping.refs, kind) && (kind != trade.ProducerByDocument || len(j.mapping.lookups) == 0) {
			errs = append(errs, &SpecError{"refs." + kind, fmt.Sprintf("no field of job %s has this ref", j.Name())})
		}
	}
	for name := range c.Parents {
		if !slices.Contains(j.mapping.sentBy, name) {
			errs = append(errs, &SpecError{"parents." + name, fmt.Sprintf("no field of job %s comes from what job %s has sent (sent_by)", j.Name(), name)})
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// parentsOfCase are rows that were accepted.
func parentsOfCase(tables map[string]map[string]string) parents {
	out := parents{}
	for job, table := range tables {
		for key, id := range table {
			out[trade.ParentKey{Job: job, Key: key}] = trade.Parent{State: trade.Accepted, RemoteID: id}
		}
	}
	return out
}

// CaseOf makes a case of a row as the ERP has it now, with the references that it uses. It stores and sends nothing.
func (e *Engine) CaseOf(ctx context.Context, jobName, key string) (Case, error) {
	job, err := e.Job(jobName)
	if err != nil {
		return Case{}, err
	}
	found, err := e.standsOf(ctx, job, key)
	switch {
	case err != nil:
		return Case{}, err
	case found.living > 1:
		return Case{}, fmt.Errorf("%w: %s", ErrDouble, doubleText(key, found.living))
	case found.row == nil:
		return Case{}, notInQuery(jobName, key)
	}
	g, err := e.judge(ctx, job, false)
	if err != nil {
		return Case{}, err
	}
	c := Case{Row: map[string]erp.Value{}, References: map[string]map[string]string{}, Parents: map[string]map[string]string{}, Today: g.eval.today}
	for _, name := range job.Columns() {
		if v, ok := found.row.Get(name); ok {
			c.Row[name] = v
		}
	}
	known, err := g.parents(ctx, []trade.Values{job.values(found.row.Get)})
	if err != nil {
		return Case{}, err
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
	if answers := g.eval.answersOf(found.row.Get); len(answers) > 0 {
		c.References[trade.ProducerByDocument] = answers
	}
	for kind, codes := range job.mapping.codesOf(found.row.Get) {
		for _, code := range codes {
			if id, ok := g.eval.refs[kind][code]; ok {
				if c.References[kind] == nil {
					c.References[kind] = map[string]string{}
				}
				c.References[kind][code] = id
			}
		}
	}
	return c, nil
}

// codesOf gives the codes that a row looks up, by de-para kind.
func (m *Mapping) codesOf(get columnsOf) map[string][]string {
	out := map[string][]string{}
	for i := range m.fields {
		f := &m.fields[i]
		if f.spec.Ref == "" {
			continue
		}
		_, _, missing := f.apply(get, nil, nil) // without any reference each code is missing
		if missing != nil && !slices.Contains(out[missing.Ref], missing.Code) {
			out[missing.Ref] = append(out[missing.Ref], missing.Code)
		}
	}
	return out
}
