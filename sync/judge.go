package sync

import (
	"context"
	"slices"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/trade"
)

// judge maps and checks rows outside of a run, and keeps nothing: for mapping cases, `explain` and `preview --diff`. It is their only way to the
// evaluator, so that they say what a run would do.
type judge struct {
	eval    *evaluator
	parents func(context.Context, []trade.Values) (parents, error)
}

// judged is a row as the mapping and the rules see it.
type judged struct {
	entry trade.Entry // state, cause, error, payload, what it waits for; the rest is empty
	draft trade.Draft
}

// newJudge judges with given references and parents, as of a given day.
func newJudge(job *Job, refs codes, known parents, today trade.Date) *judge {
	eval := &evaluator{job: job, refs: refs, today: today, log: zap.NewNop()}
	eval.refs = eval.sealCodes(refs)
	return &judge{
		eval,
		func(context.Context, []trade.Values) (parents, error) { return known, nil },
	}
}

// judge judges with the references that the next run would use. Those of the ERP are read from it, unless offline says to take the ledger's copy of them.
func (e *Engine) judge(ctx context.Context, job *Job, offline bool) (*judge, error) {
	r := &jobRun{Engine: e, job: job, ledger: &dryLedger{Ledger: e.Ledger}, source: e.Source, now: e.Clock.Now(), log: e.Log}
	if !offline {
		if err := r.loadReferences(ctx); err != nil {
			return nil, err
		}
		return &judge{r.eval, r.parentsOf}, nil
	}
	refs, _, err := e.Ledger.References(ctx)
	if err != nil {
		return nil, err
	}
	g := newJudge(job, refs, nil, trade.DateOf(r.now.In(e.Zone)))
	g.parents, r.eval = r.parentsOf, g.eval
	return g, r.loadLookups(ctx)
}

// rows judges a batch of rows of one job, given as the ledger keeps them.
func (g *judge) rows(ctx context.Context, batch []trade.Values) ([]judged, error) {
	known, err := g.parents(ctx, batch)
	if err != nil {
		return nil, err
	}
	out := make([]judged, len(batch))
	for i, values := range batch {
		values = g.eval.seal(values)
		g.eval.evaluate(&out[i].entry, values, known)
		if !failedInside(out[i].entry) { // else the mapping would fail on it again
			out[i].draft = g.eval.job.mapping.draft(columnsIn(values), g.eval.refs, known)
		}
	}
	return out, nil
}

// failedInside tells whether the program itself failed on a row.
func failedInside(e trade.Entry) bool {
	return e.Error != nil && slices.ContainsFunc(e.Error.Fields, func(p trade.Problem) bool { return p.Rule == trade.RuleInternal })
}

// problemsOf gives what keeps a judged row from going, then the remarks.
func problemsOf(e trade.Entry) []trade.Problem {
	var out []trade.Problem
	if e.Error != nil {
		out = append(out, e.Error.Fields...)
	}
	return append(out, e.Warnings...)
}
