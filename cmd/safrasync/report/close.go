package report

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// closeReport shows what a closing would store, asks, and stores the report permanently.
func closeReport(ctx context.Context, a *cli.App, f Flags, options reconcile.Options) error {
	day, ok := reconcile.MonthEnd(f.close)
	if !ok {
		return a.Usage("close.no_month", f.close)
	}
	if trade.DateOf(office.Now().In(a.Config.Zone())).Before(day) {
		return a.Usage("report.future", f.close)
	}
	if f.asOf != "" || f.closing != "" || f.failed || f.output+f.archive != "" || !options.Filter.Empty() ||
		len(options.Sections) > 0 {
		return a.Usage("close.whole")
	}
	if err := a.NeedReason(f.ActFlags); err != nil {
		return err
	}
	reading, err := a.OpenLedger(ctx, cli.ToRead)
	if err != nil {
		return err
	}
	snapshot, err := takeSnapshot(ctx, a, reading, reconcile.Cut{Day: day, Bare: true}, f.platform)
	if err != nil {
		return err
	}
	defer func() { _ = snapshot.Close() }() // a temporary file
	plan, err := snapshot.PlanClosing(options.Tolerance)
	if err != nil {
		return err
	}
	if plan.TooEarly() {
		return a.Usage("close.early", f.close)
	}
	if err := tellClosing(ctx, a, reading, plan); err != nil {
		return err
	}
	if err := a.Confirm(f.Yes); err != nil {
		return err
	}
	who := a.Person(f.ActFlags)
	o, err := a.Office(ctx, cli.ToWrite, cli.NoERP)
	if err != nil {
		return err
	}
	asked, err := o.AskClosing(ctx, day, plan, f.platform, who)
	if err != nil {
		return err
	}
	if asked != nil {
		return cli.TellAsked(a, *asked)
	}
	closing, err := freeze(ctx, a, day, snapshot, who)
	if err != nil {
		return err
	}
	if a.AsJSON {
		return a.PrintJSON(closingOf(closing))
	}
	a.Show("close.done", closingDay(a, day), closing.ID, closingDay(a, day))
	return nil
}

// tellClosing prints what a closing would store. It returns an error if the report does not add up,
// because it must not be closed then.
func tellClosing(ctx context.Context, a *cli.App, reading *state.Store, plan reconcile.ClosingPlan) error {
	a.Tell("close.plan", closingDay(a, plan.Day), plan.Rows, plan.Divergences)
	for _, t := range plan.Totals {
		a.Tell("close.sum", cmp.Or(t.Product, a.Text("close.no_product")),
			trade.NumberText(t.Contracted.String(), a.Lang()), trade.NumberText(t.Delivered.String(), a.Lang()),
			valuesText(t.Values, a.Lang()))
	}
	before, err := reading.Closings(ctx, plan.Day)
	if err != nil {
		return err
	}
	for _, c := range before {
		a.Tell("close.before", a.Voice().Moment(c.At), words.Printable(c.Who), words.Printable(c.Reason))
	}
	for _, job := range plan.Unswept {
		a.Tell("close.no_sweep", job, job)
	}
	for _, u := range plan.Uneven {
		a.Tell("close.uneven", u.Job, u.Difference)
	}
	if len(plan.Uneven) > 0 {
		return &cli.ExitError{Code: cli.ExitFailed}
	}
	if plan.Open > 0 {
		a.Tell("close.open", plan.Open)
		for _, state := range plan.States {
			a.Tell("close.open_in", state.Rows, state.State.Label(a.Lang()), state.State)
		}
	}
	return nil
}

// freeze stores a snapshot as a closing by a person.
func freeze(ctx context.Context, a *cli.App, day trade.Date, s *reconcile.Snapshot,
	who acts.Person,
) (trade.Closing, error) {
	record, err := who.Record(office.Now(), reconcile.ActClose, day.String(), s.Kept())
	if err != nil {
		return trade.Closing{}, err
	}
	writing, err := a.OpenLedger(ctx, cli.ToWrite)
	if err != nil {
		return trade.Closing{}, err
	}
	return reconcile.Freeze(ctx, writing, s, who.Name, who.Reason, record)
}

// Approvable returns the act with which an ordered closing is approved on the command line.
func Approvable(a *cli.App) acts.OtherAct {
	with := func(ctx context.Context, o acts.Order,
		fn func(trade.Date, *reconcile.Snapshot, reconcile.ClosingPlan) error,
	) error {
		day, err := trade.ParseDate(o.Job)
		if err != nil {
			return err
		}
		reading, err := a.OpenLedger(ctx, cli.ToRead)
		if err != nil {
			return err
		}
		snapshot, err := takeSnapshot(ctx, a, reading, reconcile.Cut{Day: day, Bare: true}, o.Checked)
		if err != nil {
			return err
		}
		defer func() { _ = snapshot.Close() }() // a temporary file
		plan, err := snapshot.PlanClosing(a.Config.Report.Tolerance())
		if err != nil {
			return err
		}
		return fn(day, snapshot, plan)
	}
	return acts.OtherAct{
		Tell: func(ctx context.Context, p acts.Planned) error {
			plan, ok, err := office.ShownClosing(p)
			if err != nil || !ok {
				return err
			}
			reading, err := a.OpenLedger(ctx, cli.ToRead)
			if err != nil {
				return err
			}
			return tellClosing(ctx, a, reading, plan)
		},
		Mark: func(ctx context.Context, o acts.Order) (mark string, err error) {
			err = with(ctx, o, func(_ trade.Date, _ *reconcile.Snapshot, p reconcile.ClosingPlan) error {
				mark = p.Mark
				return nil
			})
			return mark, err
		},
		Do: func(ctx context.Context, o acts.Order, mark string, who acts.Person) (done bool, err error) {
			err = with(ctx, o, func(day trade.Date, s *reconcile.Snapshot, p reconcile.ClosingPlan) error {
				if p.Mark != mark || len(p.Uneven) > 0 || p.TooEarly() {
					return nil
				}
				_, err := freeze(ctx, a, day, s, who)
				done = err == nil
				return err
			})
			return done, err
		},
	}
}

// valuesText formats sums of money by currency.
func valuesText(values map[string]trade.Decimal, lang trade.Lang) string {
	var parts []string
	for _, currency := range slices.Sorted(maps.Keys(values)) {
		parts = append(parts, currency+" "+trade.MoneyText(values[currency], lang))
	}
	return strings.Join(parts, ", ")
}

// closingDay formats a day for people.
func closingDay(a *cli.App, d trade.Date) string {
	return reconcile.PlainText(reconcile.Day(d.String()), a.Lang(), time.UTC)
}

// closingJSON is one line of `report --closings --json`.
type closingJSON struct {
	ID      string    `json:"id"`
	Day     string    `json:"day"` // the cut-off
	At      time.Time `json:"at"`
	Who     string    `json:"who"`
	Reason  string    `json:"reason"`
	Rows    int       `json:"rows"`
	Program string    `json:"program"`
	Hash    string    `json:"hash"`
	Audit   int64     `json:"audit"`
}

func closingOf(c trade.Closing) closingJSON {
	return closingJSON{c.ID, c.Day.String(), c.At, c.Who, c.Reason, c.Rows, c.Program, c.Hash, c.Audit}
}

// listClosings prints the closed reports, newest first.
func listClosings(ctx context.Context, a *cli.App) error {
	store, err := a.OpenLedger(ctx, cli.ToRead)
	if err != nil {
		return err
	}
	list, err := store.Closings(ctx, trade.Date{})
	if err != nil {
		return err
	}
	return showClosings(a, a.Voice(), list)
}

func showClosings(a *cli.App, v words.Voice, list []trade.Closing) error {
	if a.AsJSON {
		return cli.PrintEach(a, list, closingOf)
	}
	if len(list) == 0 {
		a.Tell("close.none")
		return nil
	}
	t := a.NewTable("close.head_day", "close.head_at", "close.head_who", "close.head_reason", "close.head_rows",
		"close.head_id")
	for _, c := range list {
		t.AppendRow(table.Row{
			closingDay(a, c.Day), v.Moment(c.At), words.Printable(c.Who), words.Printable(c.Reason),
			c.Rows, c.ID,
		})
	}
	t.Render()
	return nil
}
