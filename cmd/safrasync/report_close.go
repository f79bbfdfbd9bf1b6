package main

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// closeReport keeps a report for good. It shows first what would be closed.
func (a *App) closeReport(ctx context.Context, f reportFlags, options reconcile.Options) error {
	day, ok := reconcile.MonthEnd(f.close)
	if !ok {
		return a.usage("close.no_month", f.close)
	}
	if trade.DateOf(now().In(a.config.Zone())).Before(day) {
		return a.usage("report.future", f.close)
	}
	if f.asOf != "" || f.closing != "" || f.failed || f.output != "" || !options.Filter.Empty() ||
		len(options.Sections) > 0 {
		return a.usage("close.whole")
	}
	if err := a.needReason(f.actFlags); err != nil {
		return err
	}
	reading, err := a.openLedger(ctx, toRead)
	if err != nil {
		return err
	}
	snapshot, err := a.takeSnapshot(ctx, reading, reconcile.Cut{Day: day, Bare: true}, f.platform)
	if err != nil {
		return err
	}
	defer func() { _ = snapshot.Close() }() // a temporary file
	plan, err := snapshot.PlanClosing(options.Tolerance)
	if err != nil {
		return err
	}
	if plan.TooEarly() {
		return a.usage("close.early", f.close)
	}
	a.tell("close.plan", a.day(day), plan.Rows, plan.Divergences)
	for _, t := range plan.Totals {
		a.tell("close.sum", cmp.Or(t.Product, "?"), trade.NumberText(t.Contracted.String(), a.lang()),
			trade.NumberText(t.Delivered.String(), a.lang()), valuesText(t.Values, a.lang()))
	}
	before, err := reading.Closings(ctx, day)
	if err != nil {
		return err
	}
	for _, c := range before {
		a.tell("close.before", a.voice().moment(c.At), printable(c.Who), printable(c.Reason))
	}
	for _, job := range plan.Unswept {
		a.tell("close.no_sweep", job, job)
	}
	for _, u := range plan.Uneven {
		a.tell("close.uneven", u.Job, u.Difference)
	}
	if len(plan.Uneven) > 0 {
		return &exitError{exitFailed}
	}
	if plan.Open > 0 {
		a.tell("close.open", plan.Open)
		for _, state := range plan.States {
			a.tell("close.open_in", state.Rows, state.State.Label(a.lang()), state.State)
		}
	}
	if err := a.confirm(f.yes); err != nil {
		return err
	}
	who := a.person(f.actFlags)
	record, err := a.audit(f.actFlags, reconcile.ActClose, day.String(), snapshot.Kept())
	if err != nil {
		return err
	}
	writing, err := a.openLedger(ctx, toWrite)
	if err != nil {
		return err
	}
	closing, err := reconcile.Freeze(ctx, writing, snapshot, who.Name, who.Reason, record)
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.printJSON(closingOf(closing))
	}
	a.show("close.done", a.day(day), closing.ID, a.day(day))
	return nil
}

// valuesText writes amounts of money by currency.
func valuesText(values map[string]trade.Decimal, lang trade.Lang) string {
	var parts []string
	for _, currency := range slices.Sorted(maps.Keys(values)) {
		parts = append(parts, currency+" "+trade.MoneyText(values[currency], lang))
	}
	return strings.Join(parts, ", ")
}

// day is a day as people of the language write it.
func (a *App) day(d trade.Date) string {
	return reconcile.PlainText(reconcile.Day(d.String()), a.lang(), time.UTC)
}

// closingJSON is one line of `report --closings --json`.
type closingJSON struct {
	ID      string    `json:"id"`
	Day     string    `json:"day"` // cut-off
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

// listClosings lists the closed reports, the newest first.
func (a *App) listClosings(ctx context.Context) error {
	store, err := a.openLedger(ctx, toRead)
	if err != nil {
		return err
	}
	list, err := store.Closings(ctx, trade.Date{})
	if err != nil {
		return err
	}
	if a.asJSON {
		for _, c := range list {
			if err := a.printJSON(closingOf(c)); err != nil {
				return err
			}
		}
		return nil
	}
	if len(list) == 0 {
		a.tell("close.none")
		return nil
	}
	t := a.newTable("close.head_day", "close.head_at", "close.head_who", "close.head_reason", "close.head_rows",
		"close.head_id")
	for _, c := range list {
		t.AppendRow(table.Row{
			a.day(c.Day), a.voice().moment(c.At), printable(c.Who), printable(c.Reason),
			c.Rows, c.ID,
		})
	}
	t.Render()
	return nil
}
