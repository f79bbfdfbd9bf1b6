// Mistakes in a job's configuration that only its rows show.

package dryrun

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Survey is what the rows of a job reveal about its configuration: what may be wrong although the
// mapping compiles and the query has its columns.
type Survey struct {
	CancelledColumn
	Rows  int
	Whole bool // all rows were read, not only the first surveyMost
	// codes and parents' keys in one column that contain a |, by field: they are probably several
	// columns that the query has joined
	Joined map[string]JoinedCode

	job  *mapping.Job
	keys map[run.KeyHash]bool      // keys of the rows
	some []string                  // the first few keys
	cols map[string]*columnSurvey  // of the columns of the key and of parents' keys
	refs map[string]*parentsSurvey // keys of parents, by job
}

// JoinedCode is a column with values that contain a |, which the text form of a code escapes, so
// that they equal no code of several parts.
type JoinedCode struct {
	Column string
	Some   []string // the first few different values
}

type columnSurvey struct {
	values []string // the first few different values
	empty  bool     // some rows have none
}

type parentsSurvey struct {
	columns []string
	rows    int // rows that name a parent in the job
	keys    map[run.KeyHash]string
}

// Limits on what a survey keeps of a job, however many rows it has.
const (
	surveyMost    = 200_000 // rows
	surveySamples = 3
)

// Survey reads the rows of a job as a run does, which also finds what would stop the run, but maps
// none. It stores nothing.
func (e *Rehearsal) Survey(ctx context.Context, job *mapping.Job) (*Survey, error) {
	s := &Survey{
		job: job, Whole: true, keys: map[run.KeyHash]bool{}, cols: map[string]*columnSurvey{},
		refs: map[string]*parentsSurvey{}, Joined: map[string]JoinedCode{},
	}
	for _, f := range job.Mapping.Fields {
		for _, p := range f.Spec.SentBy {
			s.refs[p.Job] = &parentsSurvey{columns: p.Columns, keys: map[run.KeyHash]string{}}
		}
	}
	var values cancelledValues
	_, err := e.source.Read(ctx, job.Query, erp.Window{}, func(read erp.Row) error {
		if s.Rows == surveyMost {
			s.Whole = false
			return run.ErrEnough
		}
		s.Rows++
		row, err := job.Row(read)
		values.add(job, &row)
		if err == nil {
			s.keys[run.HashKey(row.Key)] = true // a child may name it, also if it is cancelled
		}
		if !row.Cancelled {
			if row.Key != "" && len(s.some) < surveySamples {
				s.some = append(s.some, strings.Clone(row.Key))
			}
			for _, f := range s.job.Mapping.Fields {
				if len(f.Spec.Columns) == 1 && (f.Spec.Ref != "" || len(f.Spec.SentBy) > 0) {
					column := f.Spec.Columns[0]
					v, _ := row.Get(column)
					text, seen := mapping.PlainText(v), s.Joined[f.Rule.Field]
					if strings.Contains(text, "|") && len(seen.Some) < surveySamples &&
						!slices.Contains(seen.Some, text) {
						s.Joined[f.Rule.Field] = JoinedCode{column, append(seen.Some, strings.Clone(text))}
					}
				}
			}
			for _, column := range s.job.Spec.Key {
				s.column(column, &row)
			}
			for _, p := range s.refs {
				for _, column := range p.columns {
					s.column(column, &row)
				}
				if key, ok := mapping.ParentKey(row.Get, p.columns); ok {
					p.rows++
					p.keys[run.HashKey(key)] = ""
					if len(p.keys) <= surveySamples {
						p.keys[run.HashKey(key)] = strings.Clone(key)
					}
				}
			}
		}
		return nil
	})
	if errors.Is(err, run.ErrEnough) {
		err = nil
	}
	s.CancelledColumn = values.result(job)
	return s, err
}

func (s *Survey) column(name string, row *mapping.Row) {
	c := s.cols[strings.ToLower(name)]
	if c == nil {
		c = &columnSurvey{}
		s.cols[strings.ToLower(name)] = c
	}
	v, _ := row.Get(name)
	text := mapping.PlainText(v)
	if text == "" {
		c.empty = true
	} else if len(c.values) < surveySamples && !slices.Contains(c.values, text) {
		c.values = append(c.values, strings.Clone(text))
	}
}

// constant reports whether all rows have the same value in a column, and there are at least two of
// them.
func (s *Survey) constant(column string) bool {
	c := s.cols[strings.ToLower(column)]
	return c != nil && len(c.values) == 1 && !c.empty && s.Rows > 1
}

// ContractInKey is mapping.Job.ContractInKey without the columns that are the same in every row:
// they do not distinguish contracts.
func (s *Survey) ContractInKey() []string {
	return s.job.ContractColumns(func(column string) bool { return !s.constant(column) })
}

// Mismatch is a contradiction between how the rows of a job name their parents and the parents
// themselves.
type Mismatch struct {
	Parent string   // the job that sends the parents
	Rows   int      // rows that name a parent in it
	Here   []string // examples of how they name it
	There  []string // examples of the parents' keys
	Column string   // column that is constant here but not there; "": no parent is found at all
}

// Mismatches compares the parents that the rows name with the rows of the parent jobs, in the ERP
// or the ledger. parents are surveys of the other jobs, by name.
func (e *Rehearsal) Mismatches(ctx context.Context, s *Survey, parents map[string]*Survey) (out []Mismatch, err error) {
	for _, f := range s.job.Mapping.Fields {
		for _, spec := range f.Spec.SentBy {
			p, parent := s.refs[spec.Job], parents[spec.Job]
			if parent == nil || p.rows == 0 || len(parent.keys) == 0 {
				continue
			}
			m := Mismatch{Parent: spec.Job, Rows: p.rows, There: parent.some}
			var keys []trade.ParentKey
			found := !parent.Whole // any parent, or one that may be
			for hash, text := range p.keys {
				found = found || parent.keys[hash]
				if text != "" {
					m.Here, keys = append(m.Here, text), append(keys, trade.ParentKey{Job: spec.Job, Key: text})
				}
			}
			slices.Sort(m.Here)
			if !found {
				known, err := e.ledger.Parents(ctx, keys)
				if err != nil {
					return nil, err
				}
				found = len(known) > 0
			}
			if !found && len(f.Spec.SentBy) == 1 {
				out = append(out, m)
				continue
			}
			for i, column := range spec.Columns {
				there := parent.cols[strings.ToLower(parent.job.Spec.Key[i])]
				if there != nil && s.constant(column) && len(there.values) > 1 {
					m.Column, m.Here, m.There = column, s.cols[strings.ToLower(column)].values, there.values
					out = append(out, m)
				}
			}
		}
	}
	return out, nil
}
