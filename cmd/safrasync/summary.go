package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// printSync writes what a pass did: one JSON object, or a summary for people.
func (a *App) printSync(ctx context.Context, store *state.Store, reports []trade.RunReport, f syncFlags, planned plans,
	named []trade.Entry,
) error {
	if a.asJSON {
		if reports == nil {
			reports = []trade.RunReport{}
		}
		for i := range reports {
			if reports[i].Flags == nil {
				reports[i].Flags = map[trade.Flag]int{}
			}
		}
		var rows []rowJSON
		for _, e := range named {
			rows = append(rows, rowOf(e))
		}
		return a.printJSON(struct {
			Runs   []trade.RunReport `json:"runs"`
			DryRun bool              `json:"dry_run,omitempty"`
			Rows   []rowJSON         `json:"rows,omitempty"`
		}{reports, f.dryRun, rows})
	}
	if f.dryRun {
		a.show("sync.dry")
	}
	for _, r := range reports {
		if err := a.printReport(ctx, store, r, planned[r.Job]); err != nil {
			return err
		}
	}
	for _, e := range named {
		text := a.voice().reason(e)
		if e.RemoteID != "" {
			text = e.RemoteID
		}
		a.show("sync.row", e.Job, e.Key, e.State.Label(a.lang()), text)
	}
	if left := pendingOf(reports); left > 0 && (f.limit > 0 || named != nil) {
		a.show("sync.left", left)
	}
	return nil
}

// pendingOf is how many rows may go in a later run.
func pendingOf(reports []trade.RunReport) (n int) {
	for _, r := range reports {
		n += r.States[trade.Pending]
	}
	return n
}

// printReport writes the summary of one job; planned is what a dry run found, else nil.
func (a *App) printReport(ctx context.Context, store *state.Store, r trade.RunReport, planned *plan) error {
	if w := r.WouldSend; w != nil {
		a.show("sync.dry_counts", r.Job, r.Read, r.New, r.Changed, r.Unchanged, a.whatItSends(r.Job))
		a.line(a.wouldSend(*w))
	} else {
		a.printSent(r)
	}
	if r.InScope != nil && r.Gone != nil {
		a.show("sync.sweep", *r.InScope, *r.Gone)
	}
	if r.Unreadable > 0 {
		a.show("sync.unreadable", r.Unreadable)
	}
	if r.Late != nil {
		a.show("sync.late", r.Late.Rows, a.voice().age(r.Late.LargestLateness()), listed(r.Late.Samples),
			ellipsis(r.Late.Rows > len(r.Late.Samples)))
	}
	a.printStates(r.States, r.Flags)
	if err := a.printCauses(ctx, store, r.Job, planned); err != nil {
		return err
	}
	for _, alarm := range r.Alarms {
		a.show("sync.alarm", alarm.Job, alarm.Key, a.text(i18n.Key("alarm."+string(alarm.Kind))),
			orDash(alarm.RemoteID), orDash(alarm.Other))
	}
	for _, note := range r.Notes {
		a.show("sync.note", note)
	}
	if r.SendsAgain != nil {
		a.show("sync.hours", r.Job, a.voice().moment(*r.SendsAgain))
	}
	if r.Stopped != nil {
		a.show("sync.stopped", r.Job, a.voice().stop(*r.Stopped))
	}
	return nil
}

// wouldSend says what a run would send that a dry run stands for.
func (a *App) wouldSend(w trade.WouldSend) string {
	var sums []string
	for _, q := range w.Quantities {
		sums = append(sums, strings.TrimSpace(a.voice().number(q.Amount)+" "+string(q.Unit)))
	}
	text := a.text("sync.would", w.Rows)
	if len(sums) > 0 {
		text += " (" + strings.Join(sums, "; ") + ")"
	}
	if w.Follow > 0 {
		text += a.text("sync.follow", w.Follow)
	}
	return text
}

// printSent writes what was read and sent.
func (a *App) printSent(r trade.RunReport) {
	text := a.text("sync.counts", r.Job, r.Read, r.New, r.Changed, r.Unchanged, r.RowsSent(), a.whatItSends(r.Job))
	if r.Sent != r.RowsSent() {
		text += a.text("sync.requests", r.Sent)
	}
	a.line(text)
}

// whatItSends is the trade's word for what a job sends, in parentheses behind a text: "
// (entregas)"; "" for a job that is no longer configured.
func (a *App) whatItSends(job string) string {
	for _, spec := range a.config.JobSpecs() {
		if spec.Name == job {
			return " (" + spec.Sends.Plural(a.lang()) + ")"
		}
	}
	return ""
}

// printStates writes the states that have entries, in their order, and the flags.
func (a *App) printStates(states map[trade.State]int, flags map[trade.Flag]int) {
	for _, s := range trade.States {
		if states[s] > 0 {
			fmt.Fprintf(a.out, "  %7d  %s\n", states[s], s.Label(a.lang()))
		}
	}
	for _, f := range trade.AllFlags {
		if flags[f] > 0 {
			fmt.Fprintf(a.out, "  %7d  · %s\n", flags[f], f.Label(a.lang()))
		}
	}
}

// causesShown is how many causes a summary shows, the most frequent first.
const causesShown = 12

// printCauses groups the rows that did not go by what keeps them, each with who can cure it and
// how.
func (a *App) printCauses(ctx context.Context, store *state.Store, job string, planned *plan) error {
	t := newTroubles(a.config.JobSpecs())
	if planned != nil {
		t = planned.troubles
	}
	err := store.Rows(ctx, trade.RowFilter{Job: job, States: kept}, func(e trade.Entry) error {
		if planned == nil || !planned.judged[e.ID] {
			t.add(e)
		}
		return nil
	})
	if err != nil {
		return err
	}
	v := a.voice()
	for i, g := range t.sorted() {
		if i == causesShown {
			more := i18n.Key("sync.more_causes")
			if planned != nil {
				more = "sync.more_planned" // the ledger has none of them
			}
			a.show(more, len(t.groups)-i, job)
			break
		}
		advice := g.advice(v)
		keys := make([]string, len(g.Samples))
		for i, e := range g.Samples {
			keys[i] = e.Key
		}
		a.show("sync.cause", g.Rows, v.cause(g), g.State.Label(v.lang), advice.Who, advice.Do, strings.Join(keys, ", "),
			ellipsis(g.Rows > len(keys)))
	}
	return nil
}

func ellipsis(more bool) string {
	if more {
		return ", …"
	}
	return ""
}

// plan is what a dry run would make of a job's rows.
type plan struct {
	troubles *troubles
	judged   map[int64]bool // entries of the ledger that would change: what the ledger has of them is older
}

// plans gathers what a dry run finds, by job.
type plans map[string]*plan

func newPlans(jobs []engine.JobSpec) plans {
	p := plans{}
	for _, spec := range jobs {
		p[spec.Name] = &plan{newTroubles(jobs), map[int64]bool{}}
	}
	return p
}

// add takes one row as it would be.
func (p plans) add(e trade.Entry) {
	if e.ID != 0 {
		p[e.Job].judged[e.ID] = true
	}
	if slices.Contains(kept, e.State) {
		p[e.Job].troubles.add(e)
	}
}
