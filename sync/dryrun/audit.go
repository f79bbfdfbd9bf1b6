// Which rules the rows of the ERP break.

package dryrun

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/sync/discovery"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Audit is the result of checking all rows of a job in the ERP against the rules.
type Audit struct {
	Job        string `json:"job"`
	Read       int    `json:"read"`       // rows that the query returned
	Cancelled  int    `json:"cancelled"`  // cancelled rows; not checked
	Unreadable int    `json:"unreadable"` // without a usable key; not checked
	// living rows whose key occurs more than once; such keys are held in any case
	Double     int         `json:"double"`
	DoubleKeys int         `json:"double_keys"`
	Ready      int         `json:"ready"`   // break no rule and wait for nothing
	Waiting    int         `json:"waiting"` // break no rule, and wait for a reference or a parent
	Invalid    int         `json:"invalid"`
	Breaches   []Breach    `json:"breaches"` // the most frequent first; a row may be in several
	Missing    []Shortness `json:"missing"`  // what rows wait for

	CancelledColumn
}

// CancelledColumn is what the rows have in the column of `cancelled`.
type CancelledColumn struct {
	Values []ValueCount `json:"cancelled_values"` // the most frequent first; null without `cancelled`, or without rows
	// configured values that no row has, usually misspelled; null if each occurs
	Unseen []string `json:"cancelled_unseen"`
}

// Breach is one broken rule of one field, with the rows that break it.
type Breach struct {
	Field    string         `json:"field"`
	Rule     string         `json:"rule"`
	Detail   string         `json:"detail"`
	Severity trade.Severity `json:"severity"` // error: the row is not sent; warn: it is
	Column   string         `json:"column"`
	Rows     int            `json:"rows"`
	Keys     []string       `json:"keys"`   // the first few
	Values   []ValueCount   `json:"values"` // the most frequent of the first auditValues
	Sample   trade.Problem  `json:"-"`

	values map[string]int
}

// ValueCount is a value of the ERP and how many rows have it.
type ValueCount struct {
	Value string `json:"value"`
	Rows  int    `json:"rows"`
}

// Shortness is what rows wait for: a code without an id, or rows of another job.
type Shortness struct {
	Ref  string   `json:"ref"`
	Code string   `json:"code"`
	Job  string   `json:"job"` // the job of the rows' parents, else ""
	Rows int      `json:"rows"`
	Keys []string `json:"keys"`
}

// Judgement is one row that would not be sent as it is, or would be sent with a remark.
type Judgement struct {
	Job        string          `json:"job"`
	Key        string          `json:"key"`
	State      trade.State     `json:"state"` // pending (with remarks), waiting or invalid
	Problems   []trade.Problem `json:"problems"`
	WaitingFor []trade.Awaited `json:"waiting_for"`
}

// Limits on what an audit keeps in memory, however many rows there are. It keeps copies, because a
// substring of a row would keep all that was read with it.
const (
	auditBatch   = 500  // rows judged together
	auditKeys    = 5    // sample keys of each breach
	auditValues  = 50   // different values counted for each breach
	auditMissing = 5000 // missing codes that are listed one by one
)

// Audit reads everything that the job's query returns and judges it, like a dry run over all rows;
// it stores and sends nothing. If each is not nil, it is called for every row that would not be
// sent as it is, or would be sent with a remark.
func (e *Rehearsal) Audit(ctx context.Context, job *mapping.Job, each func(Judgement) error) (Audit, error) {
	r, err := e.checked(ctx, job)
	if err != nil {
		return Audit{}, err
	}
	a := &auditor{
		job: job, reader: r, each: each, breaches: map[breachKey]*Breach{},
		missing: map[trade.Awaited]*Shortness{}, standing: map[run.KeyHash]trade.State{}, out: Audit{Job: job.Name()},
	}
	query := job.Query
	query.ChangedAt = "" // everything is read, so the change column is not needed
	result, err := e.source.Read(ctx, query, erp.Window{}, func(read erp.Row) error {
		row, err := job.Row(read)
		if err != nil {
			a.out.Unreadable++
			return nil //nolint:nilerr // such a row is counted, and the others go on
		}
		a.values.add(job, &row)
		if row.Cancelled {
			a.out.Cancelled++
			return nil
		}
		a.keys, a.batch = append(a.keys, row.Key), append(a.batch, row.Values())
		if len(a.batch) < auditBatch {
			return nil
		}
		return a.flush(ctx)
	})
	if err == nil {
		err = a.flush(ctx)
	}
	if err != nil {
		return Audit{}, err
	}
	out := a.out
	out.Read, out.Breaches = result.Rows, []Breach{}
	for _, state := range a.standing {
		switch state {
		case trade.Held:
			out.DoubleKeys++
		case trade.Invalid:
			out.Invalid++
		case trade.Waiting:
			out.Waiting++
		default:
			out.Ready++
		}
	}
	for _, b := range a.breaches {
		b.Values = mostFrequent(b.values, auditKeys)
		out.Breaches = append(out.Breaches, *b)
	}
	slices.SortFunc(out.Breaches, func(x, y Breach) int {
		return cmp.Or(cmp.Compare(y.Rows, x.Rows), cmp.Compare(x.Field, y.Field), cmp.Compare(x.Rule, y.Rule),
			cmp.Compare(x.Detail, y.Detail), cmp.Compare(x.Column, y.Column))
	})
	out.Missing = trade.ValuesOf(a.missing)
	out.CancelledColumn = a.values.result(a.job)
	slices.SortFunc(out.Missing, func(x, y Shortness) int {
		return cmp.Or(cmp.Compare(y.Rows, x.Rows), cmp.Compare(x.Ref, y.Ref), cmp.Compare(x.Code, y.Code),
			cmp.Compare(x.Job, y.Job))
	})
	return out, nil
}

type breachKey struct{ field, rule, detail, column string }

type auditor struct {
	job      *mapping.Job
	reader   *discovery.Discoverer
	each     func(Judgement) error
	keys     []string
	batch    []trade.Values
	breaches map[breachKey]*Breach
	missing  map[trade.Awaited]*Shortness
	// of each key with a living row: the state of that row; held if the key occurs twice
	standing map[run.KeyHash]trade.State
	values   cancelledValues
	out      Audit
}

func (a *auditor) flush(ctx context.Context) error {
	judged, err := judgeRows(ctx, a.reader, a.batch)
	if err != nil {
		return err
	}
	for i, got := range judged {
		key, e := a.keys[i], got.Entry
		hash := run.HashKey(key)
		switch before, again := a.standing[hash]; {
		case !again:
			a.standing[hash] = e.State
		case before != trade.Held:
			a.standing[hash] = trade.Held
			a.out.Double += 2
		default:
			a.out.Double++
		}
		count := func(rows *int, keys *[]string) {
			*rows++
			if len(*keys) < auditKeys {
				*keys = append(*keys, strings.Clone(key))
			}
		}
		problems := got.Problems()
		for _, p := range problems {
			id := breachKey{p.Field, p.Rule, string(p.Detail), p.Column}
			b := a.breaches[id]
			if b == nil {
				p.Value = strings.Clone(p.Value)
				b = &Breach{
					Field: p.Field, Rule: p.Rule, Detail: p.Detail.Error(), Column: p.Column, Sample: p,
					Severity: cmp.Or(p.Severity, trade.Refuse), values: map[string]int{},
				}
				a.breaches[id] = b
			}
			count(&b.Rows, &b.Keys)
			if _, known := b.values[p.Value]; known {
				b.values[p.Value]++
			} else if len(b.values) < auditValues {
				b.values[strings.Clone(p.Value)] = 1
			}
		}
		for _, w := range e.WaitingFor {
			id := trade.Awaited{Ref: w.Ref, Code: w.Code, Job: w.Job}
			s := a.missing[id]
			if s == nil {
				if len(a.missing) >= auditMissing {
					continue
				}
				id.Code = strings.Clone(id.Code)
				s = &Shortness{Ref: id.Ref, Code: id.Code, Job: id.Job}
				a.missing[id] = s
			}
			count(&s.Rows, &s.Keys)
		}
		if a.each == nil || len(problems) == 0 && len(e.WaitingFor) == 0 {
			continue
		}
		if err := a.each(Judgement{a.job.Name(), key, e.State, problems, e.WaitingFor}); err != nil {
			return err
		}
	}
	a.keys, a.batch = a.keys[:0], a.batch[:0]
	return nil
}

// cancelledValues counts the values in the column of `cancelled`: all of the configured ones, and
// the first few others.
type cancelledValues map[string]int

func (c *cancelledValues) add(job *mapping.Job, row *mapping.Row) {
	if job.Spec.Cancelled == nil {
		return
	}
	if *c == nil {
		*c = cancelledValues{}
	}
	v, _ := row.Get(job.Spec.Cancelled.Column)
	value := mapping.PlainText(v)
	if _, known := (*c)[value]; known || len(*c) < auditValues || row.Cancelled {
		(*c)[strings.Clone(value)]++
	}
}

func (c cancelledValues) result(job *mapping.Job) (out CancelledColumn) {
	if len(c) == 0 {
		return out
	}
	out.Values = mostFrequent(c, auditValues)
	for _, want := range job.Spec.Cancelled.Values {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(c)),
			func(have string) bool { return mapping.Fold(have) == mapping.Fold(want) }) {
			out.Unseen = append(out.Unseen, want)
		}
	}
	return out
}

// mostFrequent returns the most frequent values, at most most.
func mostFrequent(counts map[string]int, most int) []ValueCount {
	out := []ValueCount{}
	for value, n := range counts {
		out = append(out, ValueCount{value, n})
	}
	slices.SortFunc(out,
		func(x, y ValueCount) int { return cmp.Or(cmp.Compare(y.Rows, x.Rows), cmp.Compare(x.Value, y.Value)) })
	return out[:min(most, len(out))]
}
