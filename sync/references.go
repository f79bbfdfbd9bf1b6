package sync

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/trade"
)

// loadReferences brings the de-para tables up to date and makes the evaluator of this run.
func (r *jobRun) loadReferences(ctx context.Context) error {
	for _, spec := range r.Engine.References {
		if !slices.Contains(r.job.mapping.refs, spec.Kind) {
			continue
		}
		table, err := r.readReferences(ctx, spec)
		if err != nil {
			return err
		}
		if len(table) == 0 {
			if err := r.brakeReferences(ctx, spec.Kind); err != nil {
				return err
			}
		}
		if _, err := r.ledger.ReplaceReferences(ctx, spec.Kind, table); err != nil {
			return err
		}
	}
	return r.makeEvaluator(ctx)
}

// makeEvaluator makes the evaluator of the references as the ledger has them now.
func (r *jobRun) makeEvaluator(ctx context.Context) error {
	refs, version, err := r.ledger.References(ctx)
	if err != nil {
		return err
	}
	if len(r.job.mapping.refs)+len(r.job.mapping.lookups) == 0 {
		version = "" // a code that this job does not look up maps none of its rows anew
	}
	r.eval = &evaluator{
		job: r.job, refs: refs, mappedWith: r.job.mapping.fingerprint + "." + version,
		today: trade.DateOf(r.now.In(r.Zone)), log: r.log,
	}
	return r.loadLookups(ctx)
}

// brakeReferences keeps a table that was not empty: a broken view or a revoked right must not make every row wait.
func (r *jobRun) brakeReferences(ctx context.Context, kind string) error {
	known, _, err := r.ledger.References(ctx)
	if err != nil || len(known[kind]) == 0 {
		return err
	}
	return r.stop(stopReferences, fmt.Sprintf("references.%s: the query returns no code with an id, but %d are known from before; they were kept, and nothing was read or sent. "+
		"Look whether the table, the view and the rights of the ERP user are right; the next run tries again. If the ERP has no such table any more, take references.%s out "+
		"of the configuration and keep the codes with `safrasync refs`", kind, len(known[kind]), kind))
}

// readReferences reads one de-para table from the ERP. Rows without a code or an id say nothing; a code with two ids is a fault that IT must cure.
func (r *jobRun) readReferences(ctx context.Context, spec ReferenceSpec) (map[string]string, error) {
	table := map[string]string{}
	columns := append(slices.Clone(spec.Code), spec.ID)
	doubles, bad, unreadable := map[string]bool{}, 0, 0
	err := r.source.Table(ctx, spec.Query, columns, func(values []erp.Value) error {
		parts := make([]string, len(spec.Code))
		blank := true
		for i := range spec.Code {
			if values[i].Err != "" {
				unreadable++ // without this part the code would be another one
				return nil
			}
			if values[i].Kind != erp.Null {
				parts[i] = plainText(values[i])
			}
			blank = blank && parts[i] == ""
		}
		id := values[len(values)-1]
		if id.Err != "" {
			unreadable++
			return nil
		}
		if blank || id.Kind == erp.Null || plainText(id) == "" {
			return nil
		}
		code, text := joinCode(parts), plainText(id)
		if !keepable(code) || !keepable(text) {
			bad++
			return nil
		}
		if parsed, err := trade.ParseID(text); err == nil {
			text = parsed
		}
		if old, ok := table[code]; ok && old != text {
			doubles[code] = true
		}
		table[code] = text
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("references.%s: %w", spec.Kind, err)
	}
	if bad > 0 {
		r.note("references.%s: %d rows have a code or an id that is longer than %d bytes or has a NUL character; they were left out", spec.Kind, bad, maxCode)
	}
	if unreadable > 0 {
		r.note("references.%s: %d rows have a code or an id that cannot be read; they were left out", spec.Kind, unreadable)
	}
	if len(doubles) > 0 {
		codes := slices.SortedFunc(maps.Keys(doubles), trade.CompareCodes)
		return nil, r.stop(stopReferences, fmt.Sprintf("references.%s: %d codes have two ids (%s); correct the de-para table or its query, so that each code stands once",
			spec.Kind, len(codes), strings.Join(codes[:min(3, len(codes))], ", ")))
	}
	return table, nil
}
