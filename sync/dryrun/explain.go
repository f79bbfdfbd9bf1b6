// The preview of a request, and why a row was or was not sent.

package dryrun

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/discovery"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Preview is the request that would be sent for a row as it is in the ERP now.
type Preview struct {
	Job       string      `json:"job"`
	Key       string      `json:"key"`
	State     trade.State `json:"state"` // what the row would be: pending, waiting, invalid or held
	Cause     string      `json:"cause"`
	Cancelled bool        `json:"cancelled"`
	// of the POST, after api.base_url; "" if the row cannot be sent
	Path       string          `json:"path"`
	Request    json.RawMessage `json:"request"` // the body; null if the row cannot be sent
	Fields     []PreviewField  `json:"fields"`
	Problems   []trade.Problem `json:"problems"`
	WaitingFor []trade.Awaited `json:"waiting_for"`

	Text string      `json:"text,omitempty"` // why it would be invalid or held, in English
	Show trade.Shown `json:"show"`           // the columns displayed for the row
}

// PreviewField is one field with its origin.
type PreviewField struct {
	Field   string   `json:"field"`
	Value   string   `json:"value"`   // as sent; "" = absent
	Columns []string `json:"columns"` // of the query
	ERP     string   `json:"erp"`     // what the ERP has there
	Via     string   `json:"via"`     // what was applied
}

// ErrNotInQuery means that the job's query does not return the key.
var ErrNotInQuery = errors.New("the job's query does not return this key")

// Preview maps and checks one row as it is in the ERP now. It stores and sends nothing.
func (e *Rehearsal) Preview(ctx context.Context, jobName, key string) (Preview, error) {
	why, err := e.Why(ctx, jobName, key)
	switch {
	case err != nil:
		return Preview{}, err
	case why.Preview == nil:
		return Preview{}, notInQuery(jobName, key)
	}
	return *why.Preview, nil
}

func notInQuery(job, key string) error {
	return phrase.Errorf("%w: %s; `safrasync why %s '%s'` tells more", ErrNotInQuery, key, job, key)
}

// Reasons answer the question "why was this row sent, or not?", from the ERP to the platform.
type Reasons struct {
	Job   string `json:"job"`
	Key   string `json:"key"`
	InERP *bool  `json:"in_erp"` // null if it cannot be determined
	// the ERP was asked for the key; if false, in_query means nothing
	Asked   bool `json:"asked"`
	InQuery bool `json:"in_query"` // the job's query returns it
	// the query could be analysed for what excludes the key
	Known     bool     `json:"known"`
	Excluded  []string `json:"excluded_by"` // the conditions of the query that exclude it
	Cancelled bool     `json:"cancelled"`
	// as it is in the ERP now; null if the query does not return it
	Preview *Preview  `json:"preview"`
	SweptAt time.Time `json:"swept_at,omitzero"`
}

// Why collects what is known about a key in the ERP and in the query. The key of the answer is the
// one that the ERP returned, because a database finds the number 123 as "00123" too, and the ledger
// has the row under 123. Why stores and sends nothing.
func (e *Rehearsal) Why(ctx context.Context, jobName, key string) (Reasons, error) {
	job, err := e.env.Job(jobName)
	if err != nil {
		return Reasons{}, err
	}
	cursor, err := e.ledger.Cursor(ctx, jobName)
	if err != nil {
		return Reasons{}, err
	}
	out := Reasons{Job: jobName, Key: key, Excluded: []string{}, SweptAt: cursor.SweptAt}
	found, err := e.rowsUnderKey(ctx, job, key)
	if err != nil {
		return out, err
	}
	out.Key = found.Key
	out.InERP, out.InQuery = found.Exists, found.Returned
	out.Asked, out.Known = found.Asked, found.Known
	for _, c := range found.Conditions {
		out.Excluded = append(out.Excluded, strings.Join(strings.Fields(c), " "))
	}
	if found.Row == nil && found.Living == 0 {
		return out, nil
	}
	p := &Preview{Job: jobName, Key: found.Key, Cancelled: found.Cancelled(), Fields: []PreviewField{}}
	if found.Row == nil {
		p.State, p.Cause, p.Text = trade.Held, trade.CauseDuplicateKey, trade.Double(p.Key, found.Living).String()
		out.Cancelled, out.Preview = p.Cancelled, p
		return out, nil
	}
	p.Show = found.Row.Shown
	r, err := e.loaded(ctx, job, false)
	if err != nil {
		return out, err
	}
	got, err := judgeRow(ctx, r, found)
	if err != nil {
		return out, err
	}
	p.State, p.Cause = got.State, got.Cause
	p.Problems, p.WaitingFor = got.Problems(), got.WaitingFor
	if got.State == trade.Pending {
		p.Request, p.Path = got.Payload, apiclient.PathOf(job.Spec.Sends, got.Target)
	} else if got.Error != nil {
		p.Text = got.Error.Text()
	}
	for _, rule := range trade.Rules(job.Spec.Sends) {
		if f, ok := got.Draft.Fields[rule.Field]; ok {
			p.Fields = append(p.Fields, PreviewField{
				rule.Field, rule.Canonical(f.Text), f.Origin.Columns,
				f.Origin.Value, f.Origin.Via,
			})
		}
	}
	out.Cancelled, out.Preview = p.Cancelled, p
	return out, nil
}

// CutOver returns the date before which a condition of a query leaves rows out; "" for any other.
func CutOver(condition string) string { return erp.CutOver(condition) }

// Check checks a job's mapping against the columns that its query has now, and reads its
// references.
func (e *Rehearsal) Check(ctx context.Context, job *mapping.Job) error {
	_, err := e.checked(ctx, job)
	return err
}

// checked returns a reader for a job that has passed [Rehearsal.Check].
func (e *Rehearsal) checked(ctx context.Context, job *mapping.Job) (*discovery.Discoverer, error) {
	columns, err := e.source.Columns(ctx, job.Spec.Query)
	if err == nil {
		err = job.CheckColumns(columns)
	}
	if err != nil {
		return nil, err
	}
	return e.loaded(ctx, job, false)
}

// Judged is the result of mapping and checking a row.
type Judged struct {
	trade.Entry             // state, cause, error, payload, what it waits for; the rest is empty
	Draft       trade.Draft // empty if the mapping panics
	Cancelled   bool        // in the ERP: it is not sent, whatever the state
}

// Problems returns what keeps the row from being sent, then the remarks.
func (j *Judged) Problems() []trade.Problem {
	var out []trade.Problem
	if j.Error != nil {
		out = append(out, j.Error.Fields...)
	}
	return append(out, j.Warnings...)
}

// evaluatorOf returns an evaluator outside a run, with given references and for a given day.
func evaluatorOf(job *mapping.Job, refs mapping.Codes, today trade.Date) *mapping.Evaluator {
	eval := &mapping.Evaluator{Job: job, Refs: refs, Today: today, Log: zap.NewNop()}
	eval.Refs = eval.SealCodes(refs)
	return eval
}

// loaded returns a reader with the references that the next run would use. References from the ERP
// are read anew, unless offline is true: then the ledger's copy is used.
func (e *Rehearsal) loaded(ctx context.Context, job *mapping.Job, offline bool) (*discovery.Discoverer, error) {
	r := e.reader(job)
	if !offline {
		return r, r.LoadReferences(ctx)
	}
	refs, _, err := e.ledger.References(ctx)
	if err != nil {
		return nil, err
	}
	r.Eval = evaluatorOf(job, refs, trade.DateOf(r.Now.In(e.env.Zone)))
	return r, r.LoadLookups(ctx)
}

// judgeRows judges a batch of rows of the reader's job, given as the ledger stores them.
func judgeRows(ctx context.Context, r *discovery.Discoverer, batch []trade.Values) ([]Judged, error) {
	known, err := r.ParentsOf(ctx, batch)
	if err != nil {
		return nil, err
	}
	return trade.Map(batch, func(values trade.Values) Judged { return judged(r.Eval, known, values) }), nil
}

// judged maps and checks a row outside a run, and stores nothing. Mapping cases, `explain` and
// `explain --sent` reach the evaluator only through it, so that they judge as a run would.
func judged(eval *mapping.Evaluator, known mapping.Parents, values trade.Values) (out Judged) {
	values = eval.Seal(values)
	e := &out.Entry
	eval.Evaluate(e, values, known)
	for n, a := range e.WaitingFor {
		p := known[trade.ParentKey{Job: a.Job, Key: a.Key}]
		e.WaitingFor[n].ParentState, e.WaitingFor[n].ParentCause = p.State, p.Cause
	}
	internal := func(p trade.Problem) bool { return p.Rule == trade.RuleInternal }
	if e.Error == nil || !slices.ContainsFunc(e.Error.Fields, internal) { // otherwise the mapping would panic again
		out.Draft = eval.Job.Mapping.Draft(mapping.ColumnsIn(values), eval.Refs, known)
	}
	return out
}

// keyRows is what the ERP has under a key now.
type keyRows struct {
	erp.Exclusion         // with Returned set
	mapping.Choice        // which of the rows of the key counts
	Key            string // as the ERP has it; as it was asked for if the ERP has no such row
}

// rowsUnderKey asks the ERP for a key, and chooses from its rows as a run does.
func (e *Rehearsal) rowsUnderKey(ctx context.Context, job *mapping.Job, key string) (keyRows, error) {
	found, err := e.source.Explain(ctx, job.Query, mapping.SplitCode(key))
	if err != nil {
		return keyRows{Exclusion: found}, err
	}
	byKey := job.ByKey(found.Rows)
	if len(byKey) > 0 && byKey[key] == nil { // the database finds it under another spelling
		key = slices.Min(slices.Collect(maps.Keys(byKey)))
	}
	s := keyRows{Exclusion: found, Key: key}
	s.Exclusion.Rows = nil
	var rows []mapping.Row
	if found.Returned {
		rows = byKey[key]
	}
	// the readings of the job may know more spellings than the one that the database found
	r := e.reader(job).Run
	entries, err := r.EntriesOf(ctx, job.Name(), []string{key})
	if err != nil {
		return s, err
	}
	if len(entries) > 0 && (len(rows) == 0 || len(job.Spellings(&entries[0])) > 1) {
		again, err := r.ReadAgain(ctx, job, entries)
		if err != nil {
			return s, err
		}
		if all := again[key]; len(all) > len(rows) {
			there := true
			rows, s.Exclusion = all, erp.Exclusion{Asked: true, Known: true, Returned: true, Exists: &there}
		}
	}
	if s.Returned {
		s.Choice = mapping.Choose(rows)
	}
	return s, nil
}

// judgeRow judges one row of the ERP together with what the ledger knows of its key, and rechecks
// it as a run would before it sends it.
func judgeRow(ctx context.Context, r *discovery.Discoverer, s keyRows) (Judged, error) {
	key := s.Row.Key
	all, err := judgeRows(ctx, r, []trade.Values{s.Row.Values()})
	if err != nil {
		return Judged{}, err
	}
	if all[0].Entry.State != trade.Pending || s.Cancelled() {
		return all[0], nil
	}
	known, err := r.Ledger.Known(ctx, r.Job.Name(), []string{key})
	if err != nil {
		return Judged{}, err
	}
	entry := trade.Entry{Job: r.Job.Name(), Sends: r.Job.Spec.Sends, Key: key, Generation: 1}
	if k, ok := known[key]; ok {
		entries, err := r.Ledger.Entries(ctx, []int64{k.ID})
		if err != nil || len(entries) == 0 || k.State.MayBeOnPlatform() {
			return all[0], err
		}
		entry = entries[0]
	}
	now := all[0].Entry
	entry.TakeState(now)
	entry.Values, entry.MappedWith, entry.Warnings = now.Values, now.MappedWith, now.Warnings
	entry.TakePayload(now)
	entry.KeyParts, entry.SourceHash = slices.Concat(entry.KeyParts, s.Row.Parts()), s.Row.SourceHash
	entry.Shown = s.Row.Shown
	last, err := r.Recheck.Recheck(ctx, []trade.Entry{entry}, nil, nil)
	if err != nil {
		return Judged{}, err
	}
	for _, u := range last.Updates {
		if u.Entry.ID == entry.ID && u.Entry.Key == entry.Key {
			all[0].Entry = u.Entry
		}
	}
	return all[0], nil
}

// Newest maps and checks the row of an entry as it is in the ERP now, and returns the entry that it
// would be: pending, waiting or invalid. The error is run.ErrGone, run.ErrCancelled, run.ErrDouble,
// or why the ERP could not be read. It stores and sends nothing.
func (e *Rehearsal) Newest(ctx context.Context, jobName string, entry trade.Entry) (trade.Entry, error) {
	job, err := e.env.Job(jobName)
	if err != nil {
		return entry, err
	}
	r := e.reader(job)
	if err := r.LoadReferences(ctx); err != nil {
		return entry, err
	}
	found, err := r.ReadAgain(ctx, job, []trade.Entry{entry})
	if err != nil {
		return entry, err
	}
	rows := found[entry.Key]
	c := mapping.Choose(rows)
	switch {
	case len(rows) == 0:
		return entry, run.ErrGone
	case c.Cancelled():
		return entry, run.ErrCancelled
	case c.Row == nil:
		return entry, run.ErrDouble
	}
	known, err := r.ParentsOf(ctx, []trade.Values{c.Row.Values()})
	if err != nil {
		return entry, err
	}
	would := entry.As("")
	r.Eval.EvaluateRow(&would, c.Row, known)
	would.GoneSweeps, would.Now, would.AckValues = 0, nil, nil
	return would, nil
}
