package commands

import (
	"context"
	"errors"
	"fmt"
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

// PrintSync prints what a pass did: one JSON object, or a summary for people.
func PrintSync(ctx context.Context, a *cli.App, o *office.Office, reports []trade.RunReport, f SyncFlags,
	forecast *office.Forecast, named []trade.Entry,
) error {
	if err := forecast.Conclude(ctx, o, reports); err != nil {
		return err
	}
	if f.page != "" {
		if err := writePage(a, forecast, f.page, reports); err != nil {
			return err
		}
	}
	if a.AsJSON {
		if reports == nil {
			reports = []trade.RunReport{}
		}
		for i := range reports {
			if reports[i].Flags == nil {
				reports[i].Flags = map[trade.Flag]int{}
			}
		}
		var goes []goesJSON // none unless they were asked for
		forecast.Rows(func(job, key string, own trade.Freight, fields []office.ForecastField) {
			row := goesJSON{job, trade.MaskDocuments(key), map[string]string{}, own}
			for _, field := range fields {
				row.Fields[field.Field] = trade.MaskDocuments(field.Text)
			}
			goes = append(goes, row)
		})
		return a.PrintJSON(struct {
			Runs   []trade.RunReport  `json:"runs"`
			DryRun bool               `json:"dry_run,omitempty"`
			Rows   []office.RowAnswer `json:"rows,omitempty"`
			Answer []*office.Share    `json:"answer,omitempty"`
			Goes   []goesJSON         `json:"goes,omitempty"`
		}{reports, f.dryRun, trade.Map(named, o.Row), forecast.Shares(words.Machine), goes})
	}
	if f.dryRun {
		a.Show("Dry run: nothing was sent or stored. The states below are those that a run would produce.")
	}
	for _, r := range reports {
		if err := printReport(ctx, a, o, r, forecast.Of(r.Job)); err != nil {
			return err
		}
	}
	forecast.Rows(func(job, key string, own trade.Freight, fields []office.ForecastField) {
		texts := office.Amounts(a.Voice(), own)
		for _, field := range fields {
			texts = append(texts, trade.FieldLabel(field.Field, a.Lang())+" "+field.Text)
		}
		a.Line("  " + trade.MaskDocuments(a.Voice().Job(job)+" "+key+": "+strings.Join(texts, "; ")))
	})
	for _, e := range named {
		text := a.Voice().Reason(e)
		if e.RemoteID != "" {
			text = e.RemoteID
		}
		a.Show("%s: %s – %s", a.Voice().Subject(e.Job, e.Key, e.Shown), e.State.Label(a.Lang()), text)
	}
	for _, line := range forecast.Sentences(a.Voice()) {
		a.Block("\n" + line)
	}
	left := 0 // may go in a later run
	for _, r := range reports {
		left += r.States[trade.Pending]
	}
	if left > 0 && (f.limit > 0 || named != nil) {
		a.Show("%d {row stays pending: it is|rows stay pending: they are} sent in the next run, also by the service", left)
	}
	return nil
}

// goesJSON is a row that would be sent, with `--rows`.
type goesJSON struct {
	Job    string            `json:"job"`
	Key    string            `json:"key"`
	Fields map[string]string `json:"fields"`
	trade.Freight
}

// printReport prints the summary of one job. planned is the result of a dry run, or nil.
func printReport(ctx context.Context, a *cli.App, o *office.Office, r trade.RunReport,
	planned *office.JobForecast,
) error {
	if w := r.WouldSend; w != nil {
		a.Show("%s: %d read, %d new, %d changed, %d unchanged%s", a.Voice().Job(r.Job), r.Read, r.New, r.Changed, r.Unchanged, whatItSends(a, r.Job))
		sums := trade.Map(w.Quantities, func(q trade.Quantity) string {
			return strings.TrimSpace(a.Voice().Number(q.Amount) + " " + string(q.Unit))
		})
		text := a.Text("  would be sent: %d {row|rows}", w.Rows)
		if len(sums) > 0 {
			text += " (" + strings.Join(sums, "; ") + ")"
		}
		if w.Follow > 0 {
			text += a.Text(", and in the same run %d more that {waits|wait} only for such rows", w.Follow)
		}
		a.Line(text)
	} else {
		text := a.Text("%s: %d read, %d new, %d changed, %d unchanged; sent: %d%s", a.Voice().Job(r.Job), r.Read, r.New, r.Changed, r.Unchanged, r.RowsSent(),
			whatItSends(a, r.Job))
		if r.Sent != r.RowsSent() {
			text += a.Text(", in %d {request|requests}", r.Sent)
		}
		a.Line(text)
	}
	if r.InScope != nil && r.Gone != nil {
		a.Show("  complete sweep: %d in scope in the ERP, %d no longer there", *r.InScope, *r.Gone)
	}
	if r.Unreadable > 0 {
		a.Show("  without a usable key: %d {row, not|rows, not} counted above; correct the ERP", r.Unreadable)
	}
	if r.Late != nil {
		a.Show("  only the sweep found %d new or changed {row|rows}; the latest appeared %s after its own change time: widen lookback, or omit changed_at if the column cannot be trusted (%s%s)", r.Late.Rows, a.Voice().Age(r.Late.LargestLateness()), cli.Listed(r.Late.Samples),
			ellipsis(r.Late.Rows > len(r.Late.Samples)))
	}
	for _, t := range r.Twins.Rows {
		said := i18n.Key("  equal: %s has the same content as %s (id %s); it would be sent with a remark")
		switch {
		case t.Lost:
			said = "  held for a decision: %s seems to be %s (id %s), typed again under another number"
		case t.Near && t.Held:
			said = "  held for a decision: %s has the same required fields as %s (id %s), with another price or another optional field"
		case t.Near:
			said = "  similar: %s has the same required fields as %s (id %s); it would be sent with a remark"
		case t.Held:
			said = "  held for a decision: %s has the same content as %s (id %s)"
		}
		a.Show(said, a.Voice().Subject(r.Job, t.Key, t.Shown), a.Voice().Subject(t.Job, t.Other, t.OtherShown),
			cli.OrDash(t.RemoteID))
	}
	if r.Twins.More > 0 {
		a.Show("  … and %d more {row|rows} like another one, which would be sent with a remark", r.Twins.More)
	}
	printStates(a, r.States, r.Flags)
	groups, err := o.Troubles(ctx, r.Job, planned)
	if err != nil {
		return err
	}
	v := a.Voice()
	for i, g := range groups {
		if i >= causesShown && g.State != trade.Held {
			more := i18n.Key("  … and %d more {cause|causes}: `safrasync rows %s` shows all rows")
			if planned != nil {
				more = "  … and %d more {cause|causes}: `safrasync explain %s --rows` shows all rows" // the ledger does not contain them
			}
			a.Show(more, len(groups)-i, r.Job)
			break
		}
		advice := g.Advice(v.Lang)
		a.Show("  %d × %s [%s]\n      %s: %s\n      rows: %s%s", g.Rows(), office.CauseText(v, g), g.State.Label(v.Lang), advice.Who, advice.Do, strings.Join(g.Keys, ", "),
			ellipsis(g.Rows() > len(g.Keys)))
	}
	for _, alarm := range r.Alarms {
		a.Show("  ALARM %s %s: %s (id of the answer: %s; known id: %s)", alarm.Job, alarm.Key, a.Text("alarm."+string(alarm.Kind)),
			cli.OrDash(alarm.RemoteID), cli.OrDash(alarm.Other))
	}
	for _, note := range r.Notes {
		a.Show("  note for IT: %s", a.Voice().Say(note))
	}
	if r.SendsAgain != nil {
		a.Show("  %s: outside its hours; rows that are due are sent from %s on (`--any-hour` sends now)", a.Voice().Job(r.Job), a.Voice().Moment(*r.SendsAgain))
	}
	if r.Stopped != nil {
		a.Show("  %s STOPPED: %s", a.Voice().Job(r.Job), a.Voice().Stop(*r.Stopped))
	}
	return nil
}

// whatItSends returns the kind of record that a job sends, to append to a text: " (entregas)". It
// returns "" for a job that is not configured, or whose title is that kind.
func whatItSends(a *cli.App, job string) string {
	for _, spec := range a.Config.JobSpecs() {
		if spec.Name == job && !strings.EqualFold(a.Voice().Titles.Of(job), spec.Sends.Plural(a.Lang())) {
			return " (" + spec.Sends.Plural(a.Lang()) + ")"
		}
	}
	return ""
}

// printStates prints the states that have entries, in the order of trade.States, and the flags.
func printStates(a *cli.App, states map[trade.State]int, flags map[trade.Flag]int) {
	for _, s := range trade.States {
		if states[s] > 0 {
			fmt.Fprintf(a.Out, "  %7d  %s\n", states[s], s.Label(a.Lang()))
		}
	}
	for _, f := range trade.AllFlags {
		if flags[f] > 0 {
			fmt.Fprintf(a.Out, "  %7d  · %s\n", flags[f], f.Label(a.Lang()))
		}
	}
}

// causesShown is how many causes a summary shows: those of held rows, then the most frequent. Of
// held rows each cause is shown, because only a person moves them.
const causesShown = 12

func ellipsis(more bool) string {
	if more {
		return ", …"
	}
	return ""
}

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
				samples := trade.Map(g.Samples, func(key string) string { return trade.NameBlanks(key, v.Lang) })
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
