package commands

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// closeReport shows what a closing would store, asks, and stores the report permanently.
func closeReport(ctx context.Context, a *cli.App, f ReportFlags, query office.ReportQuery) error {
	day, ok := reconcile.MonthEnd(f.close)
	if !ok {
		return a.Usage("%q is not a month; write 2026-10, 10/2026, or its last day", f.close)
	}
	if trade.DateOf(office.Now().In(a.Config.Zone())).Before(day) {
		return a.Usage("%s is in the future", f.close)
	}
	if f.asOf != "" || f.closing != "" || f.failed || f.archive != "" || !query.Empty() ||
		len(query.Sections) > 0 || (f.output == "") != (f.format != "html") {
		return a.Usage("--close closes the whole report: it cannot be combined with filters, sections, --as-of, --failed, or --output of another form than .html")
	}
	if err := a.NeedReason(f.ActFlags); err != nil {
		return err
	}
	agree := func(plan reconcile.ClosingPlan) (bool, error) {
		if plan.TooEarly() {
			return false, a.Usage("there is no document up to %s: nothing to close", f.close)
		}
		return true, printClosing(a, plan)
	}
	reports, err := a.Office(ctx, cli.ToRead, cli.ERPIfThere)
	if err != nil {
		return err
	}
	with, err := sources(ctx, a, reports, f.platform)
	if err != nil {
		return err
	}
	if !f.Yes {
		plan, err := reports.PlanClosing(ctx, day, with)
		if err == nil {
			_, err = agree(plan)
		}
		if err == nil {
			err = a.Confirm(false)
		}
		if err != nil {
			return err
		}
		agree = office.Planned(plan.Mark)
	}
	reports, err = a.Office(ctx, cli.ToWrite, cli.ERPIfThere)
	if err != nil {
		return err
	}
	closing, asked, err := reports.CloseReport(ctx, day, with, a.Person(f.ActFlags), agree)
	switch {
	case err != nil:
		return err
	case asked != nil:
		return cli.PrintAsked(a, *asked)
	case closing.ID == "":
		return errors.New(a.Text("the figures changed while you were checking them, and nothing was closed: run the command again to see them as they are now"))
	}
	if f.output != "" {
		query.Closing = closing.ID
		err = exportReport(ctx, a, f, reports, query) // the month is closed, whatever becomes of the file
	}
	if a.AsJSON {
		return errors.Join(a.PrintJSON(closing), err)
	}
	a.Show("Closed: %s, closing %s. `safrasync report --as-of %s` prints it again, with the same numbers.", closingDay(a, closing.Day), closing.ID, closingDay(a, closing.Day))
	return err
}

// printClosing prints what a closing would store. It returns an error if the report does not add up,
// because it must not be closed then.
func printClosing(a *cli.App, plan reconcile.ClosingPlan) error {
	a.Tell("Close %s as things stand now: %d {row|rows}, %d {divergence|divergences}. The closing is kept with your name and cannot be altered.", closingDay(a, plan.Day), plan.Rows, plan.Divergences)
	for _, t := range plan.Totals {
		values := trade.Map(slices.Sorted(maps.Keys(t.Values)), func(currency string) string {
			return currency + " " + trade.MoneyText(t.Values[currency], a.Lang())
		})
		a.Tell("  %s: contracted %s kg, delivered %s kg, fixed value %s", cmp.Or(t.Product, a.Text("product not given")),
			trade.NumberText(t.Contracted.String(), a.Lang()), trade.NumberText(t.Delivered.String(), a.Lang()),
			strings.Join(values, ", "))
	}
	for _, c := range plan.Before {
		a.Tell("Note: this month was already closed at %s by %s: %s. Both closings are kept; the newest counts.", a.Voice().Moment(c.At), words.Printable(c.Who), words.Printable(c.Reason))
	}
	for _, job := range plan.Unswept {
		a.Tell("Note: %s has had no complete sweep to prove the total: run `safrasync sync %s --sweep` first.", job, job)
	}
	for _, j := range plan.ERP.Differ() {
		if j.Unread.Code == "" {
			a.Tell("Note: %s is not in the figures as the ERP has it now, up to %s: new %d, changed %d, no longer in the ERP %d; difference %s kg. Run `safrasync sync %s --sweep` first; if a service runs, ask it to “Read everything again”.", j.Job, closingDay(a, plan.Day), j.New, j.Changed, j.Gone,
				trade.NumberText(j.Kilograms.String(), a.Lang()), j.Job)
			continue
		}
		swept := "–"
		for _, s := range plan.Summaries {
			if s.Job == j.Job && s.SweptAt != nil {
				swept = a.Voice().Moment(*s.SweptAt)
			}
		}
		a.Tell("Note: %s was not compared with the ERP now: %s. The figures are those of the complete reading on %s.", j.Job, a.Voice().Say(j.Unread), swept)
	}
	if plan.ERP != nil && len(plan.ERP.Jobs) == 0 {
		a.Tell("The ERP was read now: it has what the figures have.")
	}
	for _, u := range plan.Uneven {
		a.Tell("%s: the counts do not match (difference %d). Nothing was closed. Run `safrasync doctor` and tell IT.", u.Job, u.Difference)
	}
	if len(plan.Uneven) > 0 {
		return &cli.ExitError{Code: cli.ExitFailed}
	}
	if plan.Open > 0 {
		a.Tell("Note: %d {open row is|open rows are} included in the closing as {it is|they are}.", plan.Open)
		for _, state := range plan.States {
			a.Tell("  %d %s: `safrasync rows --state %s`", state.Rows, state.State.Label(a.Lang()), state.State)
		}
	}
	return nil
}

// approvableClosing returns the act with which an ordered closing is approved on the command line.
func approvableClosing(a *cli.App) acts.OtherAct {
	opened := func(ctx context.Context, o acts.Order, how cli.Access) (day trade.Date, reports *office.Office,
		with office.ReportSources, err error,
	) {
		day, err = trade.ParseDate(o.Job)
		if err != nil {
			return day, nil, with, err
		}
		reports, err = a.Office(ctx, how, cli.ERPIfThere)
		if err != nil {
			return day, nil, with, err
		}
		with, err = sources(ctx, a, reports, o.Checked)
		return day, reports, with, err
	}
	return acts.OtherAct{
		Tell: func(ctx context.Context, p acts.Planned) error {
			plan, err := office.ShownClosing(p)
			if err != nil || plan == nil {
				return err
			}
			reports, err := a.Office(ctx, cli.ToRead, cli.NoERP)
			if err != nil {
				return err
			}
			plan.Before, err = reports.Closings(ctx, plan.Day)
			if err != nil {
				return err
			}
			return printClosing(a, *plan)
		},
		Mark: func(ctx context.Context, o acts.Order) (string, error) {
			day, reports, with, err := opened(ctx, o, cli.ToRead)
			if err != nil {
				return "", err
			}
			plan, err := reports.PlanClosing(ctx, day, with)
			return plan.Mark, err
		},
		Do: func(ctx context.Context, o acts.Order, mark string, who trade.Person) (bool, error) {
			day, reports, with, err := opened(ctx, o, cli.ToWrite)
			if err != nil {
				return false, err
			}
			closing, _, err := reports.CloseReport(ctx, day, with, who, office.Planned(mark))
			return closing.ID != "", err
		},
	}
}

// closingDay formats a day for people.
func closingDay(a *cli.App, d trade.Date) string {
	return reconcile.PlainText(reconcile.Day(d.String()), a.Lang(), time.UTC)
}
