package office

import (
	"context"
	"errors"
	"io"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// proposal returns a proposed code of a de-para in the form in which it is stored until somebody
// else agrees. The mark covers the id that the code has now.
func (o *Office) proposal(ctx context.Context, kind, code, id string) (acts.Planned, string, error) {
	all, _, err := o.store.References(ctx)
	order := acts.Order{Act: acts.ActSetCode, Job: kind, Keys: []string{code}, ID: id}
	return acts.Planned{Order: order, Rows: 1}, acts.MarkOf(order, all[kind][code]), err
}

// ReferenceSource returns where a kind of reference is stored, as in JSON: ledger, erp or platform.
func (o *Office) ReferenceSource(kind string) string {
	if kind == trade.ProducerByDocument {
		return "platform"
	}
	if _, fromERP := o.conf.References[kind]; fromERP {
		return "erp"
	}
	return "ledger"
}

// ReferenceQuery returns the query with which a table is read from the ERP; "" if it is not.
func (o *Office) ReferenceQuery(kind string) string {
	return o.conf.References[kind].Query
}

// ReferencePlan is what an import would do.
type ReferencePlan struct {
	ReferenceTable
	Renamed   int // existing codes that get another label
	Changes   []trade.ReferenceChange
	Unchanged int
	Fault     string // why the file is not such a table; "" if it is
}

// Mark returns a hash of what the import would change; "" if nothing can be imported.
func (p ReferencePlan) Mark() string {
	if p.Fault != "" || len(p.Bad) > 0 || len(p.Changes)+p.Renamed == 0 {
		return ""
	}
	return acts.MarkOf(p.Changes, p.Labels)
}

// ReferenceFault means that a code or an id cannot be used.
type ReferenceFault struct {
	Code, ID string
	Blank    bool // the code is blank
}

// What returns which of the two it is, as a part of a phrase's key.
func (f *ReferenceFault) What() string {
	if _, err := trade.ParseID(f.ID); err != nil && !f.Blank {
		return "id"
	}
	return "code"
}

func (f *ReferenceFault) Error() string {
	return "the code must not be blank, and the id must be a UUID"
}

// PlanReferences reads a CSV of codes and ids, and returns what it would change. It stores nothing.
func (o *Office) PlanReferences(ctx context.Context, kind string, file io.Reader, layout ReferenceLayout,
	lang trade.Lang,
) (plan ReferencePlan, err error) {
	plan.ReferenceTable, err = readReferences(file, layout, o.Voice(lang))
	if err != nil {
		//nolint:nilerr // the fault is the file's, and told to the person
		return ReferencePlan{Fault: err.Error(), ReferenceTable: ReferenceTable{Text: plan.Text}}, nil
	}
	all, _, err := o.store.References(ctx)
	if err != nil {
		return ReferencePlan{}, err
	}
	plan.Changes = trade.ChangesOf(all[kind], plan.Codes)
	plan.Unchanged = len(plan.Codes) - len(plan.Changes)
	if plan.Labels == nil {
		return plan, nil
	}
	lines, err := o.store.ListReferences(ctx, kind)
	for _, r := range lines {
		if label, ok := plan.Labels[r.Code]; ok && label != r.Label {
			plan.Renamed++
		}
	}
	return plan, err
}

// PlanReference returns what storing an id for a code would change; nil removes the code. From is nil
// if the table has no such code.
func (o *Office) PlanReference(ctx context.Context, kind, code string, id *string) (trade.ReferenceChange, error) {
	plan := trade.ReferenceChange{Code: mapping.NormalCode(code)}
	if err := o.mayChange(kind); err != nil {
		return plan, err
	}
	if id != nil {
		parsed, err := trade.ParseID(*id)
		if blank := mapping.IsBlankCode(plan.Code); err != nil || blank {
			return plan, &ReferenceFault{Code: plan.Code, ID: *id, Blank: blank}
		}
		plan.To = &parsed
	}
	all, _, err := o.store.References(ctx)
	if now, is := all[kind][plan.Code]; is {
		plan.From = &now
	}
	return plan, err
}

// CodePlan is what storing an id for a code would do.
type CodePlan struct {
	Mark  string
	Was   string            // the id that the code has; "" = none
	Same  []trade.Reference // other codes that have the id
	Frees trade.Shortage    // what waits for the code
}

// PlanCode returns what storing an id for a code would do.
func (o *Office) PlanCode(ctx context.Context, kind, code, id string) (plan CodePlan, err error) {
	change, err := o.PlanReference(ctx, kind, code, &id)
	if err != nil {
		return plan, err
	}
	if change.From != nil {
		plan.Was = *change.From
	}
	lines, err := o.store.ListReferences(ctx, kind)
	if err != nil {
		return plan, err
	}
	for _, line := range lines {
		if line.ID == *change.To && line.Code != change.Code {
			plan.Same = append(plan.Same, line)
		}
	}
	missing, err := o.Shortages(ctx)
	for _, s := range missing {
		if s.Kind == kind && s.Code == change.Code {
			plan.Frees = s
		}
	}
	plan.Mark = acts.MarkOf(change, plan.Same)
	return plan, err
}

// SetReferences stores codes, together with the audit record.
func (o *Office) SetReferences(ctx context.Context, kind string, codes, labels map[string]string, act string,
	who trade.Person,
) (added, changed int, err error) {
	if err := errors.Join(may(who, acts.ActSetCode), o.mayChange(kind)); err != nil {
		return 0, 0, err
	}
	clean, named := make(map[string]string, len(codes)), make(map[string]string, len(labels))
	for code, id := range codes {
		key := mapping.NormalCode(code)
		parsed, err := trade.ParseID(id)
		if blank := mapping.IsBlankCode(key); err != nil || blank {
			return 0, 0, &ReferenceFault{Code: code, ID: id, Blank: blank}
		}
		clean[key] = parsed
		if label, ok := labels[code]; ok {
			named[key] = label
		}
	}
	record, err := who.Record(o.now(), act, kind, nil)
	if err != nil {
		return 0, 0, err
	}
	return o.store.ImportReferences(ctx, kind, clean, named, record)
}

// RemoveReference removes one code, together with the audit record. It reports whether the code
// existed.
func (o *Office) RemoveReference(ctx context.Context, kind, code string, who trade.Person) (bool, error) {
	if err := errors.Join(may(who, acts.ActSetCode), o.mayChange(kind)); err != nil {
		return false, err
	}
	record, err := who.Record(o.now(), "refs remove", kind, nil)
	if err != nil {
		return false, err
	}
	n, err := o.store.RemoveReferences(ctx, kind, []string{code}, record)
	return n > 0, err
}

// mayChange returns an error for a kind that is not stored in the ledger: the next run would read
// it from the ERP again.
func (o *Office) mayChange(kind string) error {
	if from := o.ReferenceSource(kind); from != "ledger" {
		return phrase.Errorf("%w: the references %s are kept in the %s", trade.ErrRole, kind, from)
	}
	return nil
}

// WriteReferences writes a table as CSV that is safe to open in a spreadsheet.
func (o *Office) WriteReferences(ctx context.Context, kind string, w io.Writer) error {
	table, err := o.store.ListReferences(ctx, kind)
	if err != nil {
		return err
	}
	return writeReferences(w, table)
}
