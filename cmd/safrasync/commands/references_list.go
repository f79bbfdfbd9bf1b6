package commands

import (
	"context"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/trade"
)

func printReferences(ctx context.Context, a *cli.App, o *office.Office, missing []trade.Shortage,
	stored []trade.Reference,
) error {
	if len(missing)+len(stored) == 0 {
		a.Tell("no references are stored, and no row in the ledger waits for one; to see which codes ERP rows lack before the first sending: `safrasync explain JOB`")
		return nil
	}
	if len(missing) > 0 {
		// the kinds of records that occur, in their order, and at least one
		kinds := slices.DeleteFunc(slices.Clone(trade.Kinds), func(k trade.Kind) bool {
			blocked := func(s trade.Shortage) bool { return trade.ByKind(s.Blocked)[k] != nil }
			return !slices.ContainsFunc(missing, blocked)
		})
		if len(kinds) == 0 {
			kinds = trade.Kinds[:1]
		}
		head := []i18n.Key{"Kind", "Code without id"}
		for _, k := range kinds {
			head = append(head, "record."+string(k)+".head")
		}
		t := a.NewTable(append(head, "Weight (t)", "Also invalid", "refs.head_from")...)
		var right []table.ColumnConfig
		for n := 3; n <= len(kinds)+4; n++ {
			right = append(right, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
		t.SetColumnConfigs(right)
		samples := trade.Map(missing, func(s trade.Shortage) []int64 { return s.Sample })
		rows, err := o.Entries(ctx, slices.Concat(samples...))
		if err != nil {
			return err
		}
		names := trade.NamesOf(rows, samples)
		codes := map[string]int{}
		for i, s := range missing {
			if s.Code == "" {
				continue
			}
			codes[s.Kind]++
			code := s.Code
			if name := names[i].Labelled(); name != "" {
				code += " (" + name + ")"
			}
			row, blocked := table.Row{s.Kind, words.Printable(code)}, trade.ByKind(s.Blocked)
			for _, k := range kinds {
				n := 0
				if l := blocked[k]; l != nil {
					n = l.Rows
				}
				row = append(row, n)
			}
			invalid := 0
			for _, l := range s.Invalid {
				invalid += l.Rows
			}
			t.AppendRow(append(row, weight(a.Voice(), blocked), invalid,
				a.Text("refs.from."+o.ReferenceSource(s.Kind))))
		}
		t.Render()
		for _, s := range missing {
			if s.Code == "" {
				a.Show("%s: %d {code without an id blocks|codes without an id block} %s", s.Kind, codes[s.Kind], load(a.Voice(), trade.ByKind(s.Blocked)))
			}
		}
		a.Show("Add what is missing with `safrasync refs import`; for kinds that come from the ERP or the platform, add it there.")
		a.Line("")
	}
	if len(stored) == 0 {
		return nil
	}
	head := []i18n.Key{"Kind", "ERP code", "Platform id", "refs.head_from"}
	return cli.PrintTable(a, stored, head, func(r trade.Reference) []any {
		return []any{r.Kind, r.Shown(), r.ID, a.Text("refs.from." + o.ReferenceSource(r.Kind))}
	})
}

// load returns what is blocked as text: "38 contratos, 112 entregas, 4.310 t".
func load(v words.Voice, blocked map[trade.Kind]*trade.Load) string {
	var parts []string
	for _, k := range trade.Kinds {
		if l := blocked[k]; l != nil {
			parts = append(parts, v.Text("record."+string(k)+".count", l.Rows))
		}
	}
	if len(parts) == 0 {
		return v.Text("no row that could be sent with that alone")
	}
	parts = append(parts, weight(v, blocked)+" t")
	unweighed := 0
	for _, l := range blocked {
		unweighed += l.Unweighed
	}
	if unweighed > 0 {
		parts = append(parts, v.Text("%d {row|rows} without a readable amount or unit", unweighed))
	}
	return strings.Join(parts, ", ")
}

// weight returns the sum of all kinds of records in tonnes, to the kilogram. The same grain counts
// in a contract and in its deliveries: it is the weight of the records that cannot go.
func weight(v words.Voice, blocked map[trade.Kind]*trade.Load) string {
	var kg trade.Decimal
	for _, l := range blocked {
		kg = kg.Add(l.Kilograms)
	}
	return v.Number(kg.Round(0).Tonnes())
}
