package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// printSync writes what a pass did: one JSON object, or a summary for people.
func (a *App) printSync(ctx context.Context, store *state.Store, reports []trade.RunReport, f syncFlags) error {
	if a.asJSON {
		if reports == nil {
			reports = []trade.RunReport{}
		}
		for i := range reports {
			if reports[i].Flags == nil {
				reports[i].Flags = map[trade.Flag]int{}
			}
		}
		return a.printJSON(struct {
			Runs   []trade.RunReport `json:"runs"`
			DryRun bool              `json:"dry_run,omitempty"`
		}{reports, f.dryRun})
	}
	if f.dryRun {
		a.show(syncDry)
	}
	for _, r := range reports {
		if err := a.printReport(ctx, store, r, f.dryRun); err != nil {
			return err
		}
	}
	return nil
}

// printReport writes the summary of one job.
func (a *App) printReport(ctx context.Context, store *state.Store, r trade.RunReport, dry bool) error {
	a.show(syncCounts, r.Job, r.Read, r.New, r.Changed, r.Unchanged, r.Sent)
	if r.InScope != nil && r.Gone != nil {
		a.show(syncSweep, *r.InScope, *r.Gone)
	}
	if r.Unreadable > 0 {
		a.show(syncUnreadable, r.Unreadable)
	}
	a.printStates(r.States, r.Flags)
	if !dry { // what a dry run found is nowhere stored, so that its causes cannot be read again
		if err := a.printCauses(ctx, store, r.Job); err != nil {
			return err
		}
	}
	for _, note := range r.Notes {
		a.show(syncNote, note)
	}
	if r.Stopped != nil {
		a.show(syncStopped, r.Job, a.voice().stop(*r.Stopped))
	}
	return nil
}

// printStates writes the states that have entries, in their order, and the flags.
func (a *App) printStates(states map[trade.State]int, flags map[trade.Flag]int) {
	for _, s := range trade.States {
		if states[s] > 0 {
			fmt.Fprintf(a.out, "  %7d  %s\n", states[s], s.Label(a.lang()))
		}
	}
	for _, f := range allFlags {
		if flags[f] > 0 {
			fmt.Fprintf(a.out, "  %7d  · %s\n", flags[f], f.Label(a.lang()))
		}
	}
}

// allFlags lists the flags in the order in which people are shown them.
var allFlags = []trade.Flag{
	trade.Changed, trade.MissingInERP, trade.Cancelled, trade.Forced, trade.EchoDiffers, trade.Twin, trade.DeletedRemote,
}

// causeGroup is a trouble that several rows have.
type causeGroup struct {
	state trade.State
	cause string
	count int
	keys  []string // the first few
}

// A summary shows the most frequent causes, and names a few rows of each.
const (
	causesShown = 12
	sampleKeys  = 3
)

// printCauses groups the rows that did not go by what keeps them, the most frequent first, each with who can cure it and how.
func (a *App) printCauses(ctx context.Context, store *state.Store, job string) error {
	groups, err := causesOf(ctx, store, job)
	if err != nil {
		return err
	}
	for i, g := range groups {
		if i == causesShown {
			a.show(syncMoreCauses, len(groups)-i, job)
			break
		}
		advice := trade.Explain(g.state, g.cause, a.lang())
		a.show(syncCause, g.count, advice.What, g.state.Label(a.lang()), advice.Who, advice.Do, strings.Join(g.keys, ", "), ellipsis(g.count > len(g.keys)))
	}
	return nil
}

func ellipsis(more bool) string {
	if more {
		return ", …"
	}
	return ""
}

func causesOf(ctx context.Context, store *state.Store, job string) ([]causeGroup, error) {
	index := map[[2]string]int{}
	var groups []causeGroup
	filter := trade.RowFilter{Job: job, States: []trade.State{trade.Waiting, trade.Invalid, trade.Rejected, trade.InDoubt, trade.Held}}
	err := store.Rows(ctx, filter, func(e trade.Entry) error {
		id := [2]string{string(e.State), e.Cause}
		i, ok := index[id]
		if !ok {
			i = len(groups)
			index[id] = i
			groups = append(groups, causeGroup{state: e.State, cause: e.Cause})
		}
		groups[i].count++
		if len(groups[i].keys) < sampleKeys {
			groups[i].keys = append(groups[i].keys, e.Key)
		}
		return nil
	})
	slices.SortStableFunc(groups, func(x, y causeGroup) int { return cmp.Compare(y.count, x.count) })
	return groups, err
}

// stop says why a job stopped and what to do: in the person's language where the reason is a known one, with the engine's own words behind it.
func (v voice) stop(s trade.Stop) string {
	text := s.Text
	if known, ok := stopWords[s.Code]; ok && v.lang != trade.English {
		text = v.text(known) + " (" + s.Text + ")"
	}
	if !s.Until.IsZero() {
		text += v.text(stopUntil, v.moment(s.Until))
	}
	return text
}
