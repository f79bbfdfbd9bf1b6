// The de-para tables of a run, and the evaluator that uses them.

package discovery

import (
	"context"
	"maps"
	"slices"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// LoadReferences updates the de-para tables that are read from the ERP, and makes the evaluator of
// this run.
func (r *Discoverer) LoadReferences(ctx context.Context) error {
	began := r.Clock.Boot()
	for _, spec := range r.References {
		if !slices.Contains(r.Job.Mapping.Refs, spec.Kind) {
			continue
		}
		table := &codeTable{codes: map[string]string{}, labels: map[string]string{}, doubles: map[string]bool{}}
		columns := append(slices.Clone(spec.Code), spec.ID)
		if spec.Label != "" {
			columns = append(columns, spec.Label)
		}
		err := r.Source.Table(ctx, spec.Query, columns, func(values []erp.Value) error {
			table.add(spec, values)
			return nil
		})
		if err != nil {
			return &run.QueryError{Where: trade.Say("query.references", "kind", spec.Kind), Err: err}
		}
		if table.bad > 0 {
			r.Note(trade.Say("note.codes_too_long", "kind", spec.Kind, "rows", table.bad, "most", mapping.MaxCode))
		}
		if table.unreadable > 0 {
			r.Note(trade.Say("note.codes_unreadable", "kind", spec.Kind, "rows", table.unreadable))
		}
		if len(table.doubles) > 0 { // a code with two ids is an error that IT must correct
			codes := slices.SortedFunc(maps.Keys(table.doubles), trade.CompareCodes)
			return r.Stop(outcome.StopReferences,
				trade.Say("stop.references.double", "kind", spec.Kind, "count", len(codes),
					"codes", codes[:min(3, len(codes))]))
		}
		if len(table.codes) == 0 {
			// a broken view or a revoked right must not make every row wait: the stored table is kept
			known, _, err := r.Ledger.References(ctx)
			if err != nil {
				return err
			}
			if count := len(known[spec.Kind]); count > 0 {
				return r.Stop(outcome.StopReferences,
					trade.Say("stop.references.empty", "kind", spec.Kind, "count", count))
			}
		}
		if _, err := r.Ledger.ReplaceReferences(ctx, spec.Kind, table.codes, table.labels); err != nil {
			return err
		}
	}
	clock := r.Clock
	r.tables.read, r.tables.took = clock.Boot(), clock.Boot()-began
	return r.makeEvaluator(ctx)
}

// makeEvaluator makes the evaluator with the references that the ledger has now.
func (r *Discoverer) makeEvaluator(ctx context.Context) error {
	refs, version, err := r.Ledger.References(ctx)
	if err != nil {
		return err
	}
	if !r.looksUp() {
		version = "" // the job looks up no codes: a changed code must not map its rows again
	}
	r.tables.version = version
	r.Eval = &mapping.Evaluator{
		Job: r.Job, Refs: refs, MappedWith: r.Job.Mapping.Fingerprint + "." + version,
		Today: trade.DateOf(r.Now.In(r.Zone)), Log: r.Log,
	}
	return r.LoadLookups(ctx)
}

// codeTable is a de-para table while it is read from the ERP.
type codeTable struct {
	codes, labels   map[string]string
	doubles         map[string]bool // codes with two ids
	bad, unreadable int
}

// add takes one row. A row without a code or an id is ignored.
func (t *codeTable) add(spec mapping.ReferenceSpec, values []erp.Value) {
	parts := make([]string, len(spec.Code))
	blank := true
	for i := range spec.Code {
		if values[i].Err != "" {
			t.unreadable++ // without this part the code would be a different one
			return
		}
		if values[i].Kind != erp.Null {
			parts[i] = mapping.PlainText(values[i])
		}
		blank = blank && parts[i] == ""
	}
	id := values[len(spec.Code)]
	if id.Err != "" {
		t.unreadable++
		return
	}
	if blank || id.Kind == erp.Null || mapping.PlainText(id) == "" {
		return
	}
	code, text := mapping.JoinCode(parts), mapping.PlainText(id)
	if !mapping.Keepable(code) || !mapping.Keepable(text) {
		t.bad++
		return
	}
	if parsed, err := trade.ParseID(text); err == nil {
		text = parsed
	}
	if old, ok := t.codes[code]; ok && old != text {
		t.doubles[code] = true
	}
	t.codes[code] = text
	if label := values[len(values)-1]; spec.Label != "" && label.Err == "" {
		t.labels[code] = trade.CutText(mapping.PlainText(label))
	}
}
