package main

import (
	"cmp"
	"context"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// referenceJSON is one line of `refs list --json`.
type referenceJSON struct {
	Kind string  `json:"kind"`
	Code string  `json:"code"`
	ID   *string `json:"id"`   // null: rows wait for it
	Rows int     `json:"rows"` // rows that wait for it
	From string  `json:"from"` // ledger, or erp for a kind that is read from there
}

// listReferences lists the de-para: what rows wait for first, those that block most rows at the top.
func (a *App) listReferences(ctx context.Context, args []string) error {
	kind := ""
	if len(args) > 0 {
		kind = args[0]
		if err := a.checkKind(kind, toRead); err != nil {
			return err
		}
	}
	store, err := a.openLedger(ctx, toRead)
	if err != nil {
		return err
	}
	lines, err := missingReferences(ctx, store, kind)
	if err != nil {
		return err
	}
	stored, err := store.ListReferences(ctx, kind)
	if err != nil {
		return err
	}
	have := map[[2]string]bool{}
	for _, r := range stored {
		have[[2]string{r.Kind, r.Code}] = true
	}
	// A code that came after the last run is not missing any more, although rows still stand as waiting for it.
	lines = slices.DeleteFunc(lines, func(l referenceJSON) bool { return have[[2]string{l.Kind, l.Code}] })
	for _, r := range stored {
		lines = append(lines, referenceJSON{Kind: r.Kind, Code: r.Code, ID: &r.ID})
	}
	for i := range lines {
		lines[i].From = "ledger"
		if _, fromERP := a.config.References[lines[i].Kind]; fromERP {
			lines[i].From = "erp"
		}
		if a.asJSON {
			if err := a.printJSON(lines[i]); err != nil {
				return err
			}
		}
	}
	if !a.asJSON {
		a.printReferences(lines)
	}
	return nil
}

func (a *App) printReferences(lines []referenceJSON) {
	if len(lines) == 0 {
		a.tell(refsNone)
		return
	}
	t := a.newTable(refsHeadKind, refsHeadCode, refsHeadID, refsHeadRows, refsHeadFrom)
	missing := 0
	for _, l := range lines {
		id, rows := a.text(refsMissing), any(l.Rows)
		if l.ID != nil {
			id, rows = *l.ID, ""
		} else {
			missing++
		}
		t.AppendRow(table.Row{l.Kind, printable(l.Code), printable(id), rows, a.text(refsFrom[l.From])})
	}
	t.Render()
	if missing > 0 {
		a.show(refsMissingCount, missing)
	}
}

// missingReferences counts the rows that each missing code blocks, as of the last run.
func missingReferences(ctx context.Context, store *state.Store, kind string) ([]referenceJSON, error) {
	index := map[[2]string]int{}
	var out []referenceJSON
	err := store.Rows(ctx, trade.RowFilter{States: []trade.State{trade.Waiting, trade.Invalid}}, func(e trade.Entry) error {
		seen := map[[2]string]bool{} // one code may stand in two fields of a row
		for _, w := range e.WaitingFor {
			id := [2]string{w.Ref, w.Code}
			if w.Ref == "" || kind != "" && w.Ref != kind || seen[id] {
				continue
			}
			seen[id] = true
			i, ok := index[id]
			if !ok {
				i = len(out)
				index[id] = i
				out = append(out, referenceJSON{Kind: w.Ref, Code: w.Code})
			}
			out[i].Rows++
		}
		return nil
	})
	slices.SortFunc(out, func(x, y referenceJSON) int {
		return cmp.Or(cmp.Compare(y.Rows, x.Rows), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Code, y.Code))
	})
	return out, err
}
