package desk

import (
	"context"
	"fmt"
	"io"

	"github.com/safrasync/safrasync/console/pages"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// ReferenceSource returns where a kind of reference is stored.
func (d *Desk) ReferenceSource(kind string) string { return office.Source(d.g.App.Config, kind) }

// ReadReferences reads a CSV of codes and ids, and returns what it would change.
func (d *Desk) ReadReferences(ctx context.Context, kind string, file io.Reader,
	form pages.ReferenceLayout, lang trade.Lang,
) (pages.ReferencePlan, error) {
	layout := office.ParseReferenceLayout(form.Code, form.ID, form.Label, form.Where, form.Pad, form.Document)
	table, err := office.ReadReferences(file, layout, d.voice(lang))
	if err != nil {
		//nolint:nilerr // the fault is the file's, and told to the person
		return pages.ReferencePlan{Fault: err.Error(), Text: table.Text}, nil
	}
	all, _, err := d.g.Store.References(ctx)
	if err != nil {
		return pages.ReferencePlan{}, err
	}
	plan := pages.ReferencePlan{
		Codes: table.Codes, Labels: table.Labels, Changes: state.ChangesOf(all[kind], table.Codes),
		LeftOut: table.LeftOut, Text: table.Text,
	}
	if plan.Renamed, err = table.Renames(ctx, d.g.Store, kind); err != nil {
		return pages.ReferencePlan{}, err
	}
	plan.Unchanged = len(table.Codes) - len(plan.Changes)
	for _, bad := range table.Bad {
		plan.Bad = append(plan.Bad, pages.BadLine(bad))
	}
	return plan, nil
}

// NormalCode returns a code in the form in which the table stores it.
func (d *Desk) NormalCode(code string) string { return mapping.NormalCode(code) }

// SetReferences stores codes, together with the audit record.
func (d *Desk) SetReferences(ctx context.Context, kind string, codes, labels map[string]string, act string,
	who acts.Person,
) (added, changed int, err error) {
	if err := d.mayChange(kind); err != nil {
		return 0, 0, err
	}
	clean, named := make(map[string]string, len(codes)), make(map[string]string, len(labels))
	for code, id := range codes {
		parsed, err := trade.ParseID(id)
		if err != nil || mapping.IsBlankCode(mapping.NormalCode(code)) {
			return 0, 0, &pages.ReferenceFault{
				Code: code, ID: id, Blank: mapping.IsBlankCode(mapping.NormalCode(code)),
			}
		}
		clean[mapping.NormalCode(code)] = parsed
		if label, ok := labels[code]; ok {
			named[mapping.NormalCode(code)] = label
		}
	}
	record, err := who.Record(office.Now(), act, kind, nil)
	if err != nil {
		return 0, 0, err
	}
	return d.g.Store.ImportReferences(ctx, kind, clean, named, record)
}

// RemoveReference removes one code, together with the audit record. It reports whether the code
// existed.
func (d *Desk) RemoveReference(ctx context.Context, kind, code string, who acts.Person) (bool, error) {
	if err := d.mayChange(kind); err != nil {
		return false, err
	}
	record, err := who.Record(office.Now(), "refs remove", kind, nil)
	if err != nil {
		return false, err
	}
	n, err := d.g.Store.RemoveReferences(ctx, kind, []string{code}, record)
	return n > 0, err
}

// mayChange returns an error for a kind that is not stored in the ledger: the next run would read
// it from the ERP again.
func (d *Desk) mayChange(kind string) error {
	if from := office.Source(d.g.App.Config, kind); from != "ledger" {
		return fmt.Errorf("the references %s are kept in the %s", kind, from)
	}
	return nil
}

// WriteReferences writes a table as CSV that is safe to open in a spreadsheet.
func (d *Desk) WriteReferences(ctx context.Context, kind string, w io.Writer) error {
	table, err := d.g.Store.ListReferences(ctx, kind)
	if err != nil {
		return err
	}
	return office.WriteReferences(w, table)
}
