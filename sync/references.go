package sync

import (
	"context"
	"fmt"
	"slices"

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
		if _, err := r.ledger.ReplaceReferences(ctx, spec.Kind, table); err != nil {
			return err
		}
	}
	refs, version, err := r.ledger.References(ctx)
	if err != nil {
		return err
	}
	r.eval = &evaluator{
		job: r.job, refs: refs, mappedWith: r.job.mapping.fingerprint + "." + version,
		today: trade.DateOf(r.now.In(r.Zone)), log: r.log,
	}
	return nil
}

// readReferences reads one de-para table from the ERP. Rows without a code or an id say nothing; a code with two ids is a fault that IT must cure.
func (r *jobRun) readReferences(ctx context.Context, spec ReferenceSpec) (map[string]string, error) {
	table := map[string]string{}
	columns := append(slices.Clone(spec.Code), spec.ID)
	double, bad := "", 0
	err := r.source.Table(ctx, spec.Query, columns, func(values []erp.Value) error {
		parts := make([]string, len(spec.Code))
		blank := true
		for i := range spec.Code {
			if values[i].Kind != erp.Null && values[i].Err == "" {
				parts[i] = plainText(values[i])
			}
			blank = blank && parts[i] == ""
		}
		id := values[len(values)-1]
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
			double = code
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
	if double != "" {
		return nil, r.stop(stopColumns, fmt.Sprintf("references.%s: code %s has two ids; correct the de-para table or its query", spec.Kind, double))
	}
	return table, nil
}
