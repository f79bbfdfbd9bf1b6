// A row with all that its mapping depends on, apart from the installation that has it.

package dryrun

import (
	"context"
	"errors"
	"slices"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// Seen is a row with everything on which its mapping depends. In contrast to a [Case] it has parents
// of every state, and documents of which only the code is left.
type Seen struct {
	Values     trade.Values // the columns of the key and of the mapping
	References mapping.Codes
	Parents    mapping.Parents
	Today      trade.Date
	FromERP    bool // as the ERP has it now; else as the ledger has it
}

// SeenOf returns a row as it is in the ERP now. If the ERP cannot tell, or does not have it, or has
// it more than once, it returns what the ledger keeps of it, or the error of the ERP if that is
// nothing. known is the entry of the ledger, nil if there is none.
func (e *Rehearsal) SeenOf(ctx context.Context, jobName, key string, known *trade.Entry) (Seen, error) {
	job, err := e.env.Job(jobName)
	if err != nil {
		return Seen{}, err
	}
	found, erpErr := e.standsOf(ctx, job, key)
	if erpErr == nil && found.Row != nil {
		g, err := e.judge(ctx, job, false)
		if err == nil {
			return g.seen(ctx, func(column string) (trade.Cell, bool) {
				v, ok := found.Row.Get(column)
				return mapping.CellOf(v), ok
			}, true)
		}
		erpErr = err
	}
	spellings := [][]trade.Cell{}
	if known != nil {
		spellings = job.Spellings(known)
	}
	switch {
	case ctx.Err() != nil:
		return Seen{}, ctx.Err()
	case len(spellings) == 0 || known.NewestValues() == nil:
		return Seen{}, errors.Join(erpErr, notInQuery(jobName, key))
	}
	g, err := e.judge(ctx, job, true)
	if err != nil {
		return Seen{}, err
	}
	return g.seen(ctx, func(column string) (trade.Cell, bool) {
		if c, ok := known.NewestValues()[column]; ok {
			return c, true
		}
		at := slices.Index(job.Spec.Key, column)
		if at < 0 {
			return trade.Cell{}, false
		}
		return spellings[0][at], true
	}, false)
}

// seen collects what the mapping of a row depends on.
func (g *judge) seen(ctx context.Context, cell func(string) (trade.Cell, bool), fromERP bool) (Seen, error) {
	out := Seen{Values: trade.Values{}, Today: g.eval.Today, FromERP: fromERP}
	for _, column := range g.eval.Job.Columns() {
		if c, ok := cell(column); ok {
			out.Values[column] = c
		}
	}
	get := mapping.ColumnsIn(out.Values)
	known, err := g.parents(ctx, []trade.Values{out.Values})
	if err != nil {
		return out, err
	}
	out.References, out.Parents = g.codes(get), mapping.Parents{}
	for _, at := range g.eval.Job.Mapping.ParentKeys(nil, get) {
		for _, at := range []trade.ParentKey{at, {Job: at.Job}} { // the second: whether all were read
			if parent, ok := known[at]; ok {
				out.Parents[at] = parent
			}
		}
	}
	return out, nil
}

// Judge maps and checks the row, by the mapping alone.
func (s Seen) Judge(job *mapping.Job) (Verdict, Preview, error) {
	get := mapping.ColumnsIn(s.Values)
	var names []string
	var values []erp.Value
	for _, column := range job.Columns() {
		if v, ok := get(column); ok {
			names, values = append(names, column), append(values, v)
		}
	}
	row, err := job.Row(erp.NewRow(names, values))
	if err != nil {
		return Verdict{}, Preview{}, phrase.Errorf("row: %w; a run would count it as unreadable", err)
	}
	all, err := newJudge(job, s.References, s.Parents, s.Today).rows(context.Background(), []trade.Values{s.Values})
	if err != nil {
		return Verdict{}, Preview{}, err
	}
	p := Preview{Job: job.Name(), Key: row.Key, Cancelled: row.Cancelled, Fields: []PreviewField{}}
	p.take(job, all[0])
	return verdictOf(row, all[0].entry), p, nil
}
