// Mapping and rules for rows outside a run.

package dryrun

import (
	"context"
	"maps"
	"slices"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/sync/discovery"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// judge maps and checks rows outside a run, and stores nothing. Mapping cases, `explain` and
// `explain --sent` reach the evaluator only through it, so that they judge as a run would.
type judge struct {
	// reads the ERP and a ledger that cannot be written; nil if there is none
	run     *discovery.Discoverer
	eval    *mapping.Evaluator
	parents func(context.Context, []trade.Values) (mapping.Parents, error)
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

// newJudge returns a judge with given references and parents, for a given day.
func newJudge(job *mapping.Job, refs mapping.Codes, known mapping.Parents, today trade.Date) *judge {
	eval := &mapping.Evaluator{Job: job, Refs: refs, Today: today, Log: zap.NewNop()}
	eval.Refs = eval.SealCodes(refs)
	return &judge{eval: eval, parents: func(context.Context,
		[]trade.Values,
	) (mapping.Parents, error) {
		return known, nil
	}}
}

// judge returns a judge with the references that the next run would use. References from the ERP
// are read anew, unless offline is true: then the ledger's copy is used.
func (e *Rehearsal) judge(ctx context.Context, job *mapping.Job, offline bool) (*judge, error) {
	r := e.reader(job)
	if !offline {
		if err := r.LoadReferences(ctx); err != nil {
			return nil, err
		}
		return &judge{r, r.Eval, r.ParentsOf}, nil
	}
	refs, _, err := e.ledger.References(ctx)
	if err != nil {
		return nil, err
	}
	g := newJudge(job, refs, nil, trade.DateOf(r.Now.In(e.env.Zone)))
	g.run, g.parents, r.Eval = r, r.ParentsOf, g.eval
	return g, r.LoadLookups(ctx)
}

// rows judges a batch of rows of one job, given as the ledger stores them.
func (g *judge) rows(ctx context.Context, batch []trade.Values) ([]Judged, error) {
	known, err := g.parents(ctx, batch)
	if err != nil {
		return nil, err
	}
	out := make([]Judged, len(batch))
	for i, values := range batch {
		values = g.eval.Seal(values)
		e := &out[i].Entry
		g.eval.Evaluate(e, values, known)
		for n, a := range e.WaitingFor {
			p := known[trade.ParentKey{Job: a.Job, Key: a.Key}]
			e.WaitingFor[n].ParentState, e.WaitingFor[n].ParentCause = p.State, p.Cause
		}
		internal := func(p trade.Problem) bool { return p.Rule == trade.RuleInternal }
		if e.Error == nil || !slices.ContainsFunc(e.Error.Fields, internal) { // otherwise the mapping would panic again
			out[i].Draft = g.eval.Job.Mapping.Draft(mapping.ColumnsIn(values), g.eval.Refs, known)
		}
	}
	return out, nil
}

// keyRows is what the ERP has under a key now.
type keyRows struct {
	erp.Exclusion         // with Returned set
	mapping.Choice        // which of the rows of the key counts
	Key            string // as the ERP has it; as it was asked for if the ERP has no such row
}

// standsOf asks the ERP for a key, and chooses from its rows as a run does.
func (e *Rehearsal) standsOf(ctx context.Context, job *mapping.Job, key string) (keyRows, error) {
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

// row judges one row of the ERP together with what the ledger knows of its key, and rechecks it as
// a run would before it sends it.
func (g *judge) row(ctx context.Context, s keyRows) (Judged, error) {
	r := g.run
	key := s.Row.Key
	all, err := g.rows(ctx, []trade.Values{s.Row.Values()})
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
		if err != nil || len(entries) == 0 || k.State.Created() {
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
