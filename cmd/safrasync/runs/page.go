package runs

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/sync/reconcile/paper"
	"github.com/safrasync/safrasync/trade"
)

// writePage writes the forecast of a dry run as a page to print and sign. Only its owner can read the
// file. Tonnes are to the kilogram; documents in the ERP's texts are masked.
func writePage(a *cli.App, forecast *office.Forecast, file string, reports []trade.RunReport) error {
	write := func(to io.Writer) error {
		page := paper.NewHTML(to)
		v := a.Voice()
		lines := append([]string{
			v.Text("%s; safrasync %s; configuration %s", v.Moment(office.Now()), a.Version, a.Config.File()), v.Text("Nothing was sent or stored: this is what a run would do now."),
		}, forecast.Sentences(v)...)
		if name := a.Config.Alerts.Name; name != "" {
			lines = append([]string{name}, lines...)
		}
		err := page.Begin(reconcile.Heading{Title: v.Text("Rehearsal of the sending to the platform"), Lines: lines, Lang: v.Lang, Zone: v.Zone})
		var goes, stays, stopped [][]any
		for _, s := range forecast.Shares(v) {
			if all := s.Goes.Plus(s.Follows); all.Rows > 0 {
				goes = append(goes, amounts(all, s.Name(v, 2), all.Rows, s.Follows.Rows)...)
			}
			for _, g := range s.Stays {
				samples := trade.Map(g.Samples, func(key string) string { return trade.SayBlanks(key, v.Lang) })
				lines := amounts(g.Freight, s.Name(v, 2), g.Rows)
				for i := range lines {
					lines[i] = append(lines[i], trade.MaskDocuments(g.Text), g.Who,
						trade.MaskDocuments(strings.Join(samples, ", ")))
				}
				stays = append(stays, lines...)
			}
		}
		for _, r := range reports {
			if r.Stopped != nil {
				stopped = append(stopped, []any{v.Job(r.Job), v.Stop(*r.Stopped)})
			}
		}
		const text, count, number, money = reconcile.TextColumn, reconcile.CountColumn, reconcile.NumberColumn,
			reconcile.MoneyColumn
		sums := []reconcile.Column{column(v, "tonnes", number), column(v, "currency", text), column(v, "value", money)}
		table := func(id reconcile.SectionID, title, note i18n.Key, rows [][]any, columns ...reconcile.Column) {
			err = errors.Join(err, page.Section(reconcile.Section{
				ID: id, Title: v.Text(title), Note: v.Text(note), Columns: columns,
			}))
			for _, row := range rows {
				err = errors.Join(err, page.Row(row))
			}
		}
		record, rows := column(v, "record", text), column(v, "rows", count)
		table("goes", "Would be sent", "Different kinds of record are never added up; fixations are the same grain as the contracts that they fix.", goes, append([]reconcile.Column{record, rows, column(v, "follow", count)}, sums...)...)
		table("stays", "Would not be sent", "Rows that are sent automatically once the cause is resolved, or that need a decision.", stays,
			append(append([]reconcile.Column{record, rows}, sums...),
				column(v, "cause", text), column(v, "who", text), column(v, "samples", text))...)
		if len(stopped) > 0 {
			table("stopped", "Not checked", "", stopped, column(v, "job", text), column(v, "cause", text))
		}
		table("sign", "Checked by", "I have checked the above and approve the sending.", [][]any{{"", "", ""}},
			column(v, "name", text), column(v, "date", text), column(v, "signature", text))
		return errors.Join(err, page.End())
	}
	if file == "-" {
		return write(a.Out)
	}
	if err := cli.WriteOwn(file, write); errors.Is(err, fs.ErrExist) {
		return a.Usage("%s: %s; nothing was written there", file, a.Voice().FileReason(err))
	} else if err != nil {
		return err
	}
	a.Tell("page written to %s", file)
	return nil
}

func column(v words.Voice, name string, typ reconcile.Type) reconcile.Column {
	return reconcile.Column{ID: name, Title: v.Text("page.column." + name), Type: typ}
}

// amounts appends tonnes, currency and value to the counted cells. Currencies are never added up:
// each further one has a row of its own.
func amounts(f trade.Freight, counted ...any) [][]any {
	currencies, tonnes := config.SortedKeys(f.Value), f.Kilograms.Round(0).Tonnes()
	if len(currencies) == 0 {
		return [][]any{append(counted, tonnes, "", nil)}
	}
	var out [][]any
	for i, currency := range currencies {
		row := append(slices.Clone(counted), tonnes, currency, f.Value[currency].Round(2))
		if i > 0 {
			row = append(make([]any, len(counted)+1), currency, f.Value[currency].Round(2))
		}
		out = append(out, row)
	}
	return out
}
