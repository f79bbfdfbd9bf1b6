package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/internal/i18n"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// rowActFlags are those of an act that many rows can be in.
type rowActFlags struct {
	actFlags
	states, causes []string
	count          int // that --yes answers for; -1 = not given
}

// manyRows is from where on the number of rows must be typed.
const manyRows = 50

func newRetryCommand(a *App) *cobra.Command {
	return a.rowsCommand("retry", "help.retry", "retry.plan", (*engine.Acts).Retry)
}

func newDismissCommand(a *App) *cobra.Command {
	return a.rowsCommand("dismiss", "help.dismiss", "dismiss.plan", (*engine.Acts).Dismiss)
}

func newReopenCommand(a *App) *cobra.Command {
	return a.rowsCommand("reopen", "help.reopen", "reopen.plan", (*engine.Acts).Reopen)
}

// planner plans an act on rows.
type planner func(acts *engine.Acts, ctx context.Context, job string, keys []string) (engine.RowPlan, error)

// rowsCommand makes a command for an act by which nothing can be doubled: on rows by their keys, or
// on all that a filter selects.
func (a *App) rowsCommand(act string, help, title i18n.Key, plan planner) *cobra.Command {
	var f rowActFlags
	cmd := a.command(act+" JOB [KEY…] --reason TEXT", help, arity{1, -1},
		func(cmd *cobra.Command, args []string) error {
			return a.actOnMany(cmd.Context(), act, args[0], args[1:], f, title, plan)
		})
	f.add(cmd)
	cmd.Flags().StringSliceVar(&f.states, "state", nil, "instead of keys: all rows in these `STATES`: "+
		listed(engine.BulkStates(act)))
	cmd.Flags().StringSliceVar(&f.causes, "cause", nil,
		"instead of keys: all rows with these `CAUSES`, as rows --cause takes them")
	cmd.Flags().IntVar(&f.count, "count", -1,
		"with --yes and more than 50 rows: their number `N`, as the plan shows it")
	completes(cmd, "state", engine.BulkStates(act))
	cmd.ValidArgsFunction = a.completeRows(engine.BulkStates(act)...)
	return cmd
}

func (a *App) actOnMany(ctx context.Context, act, job string, keys []string, f rowActFlags, title i18n.Key,
	plan planner,
) error {
	config, err := a.loadConfig()
	if err != nil {
		return err
	}
	if err := a.checkJobNames(config, []string{job}); err != nil {
		return err
	}
	if err := a.needReason(f.actFlags); err != nil {
		return err
	}
	filtered := len(f.states)+len(f.causes) > 0
	if filtered == (len(keys) > 0) {
		return a.usage("act.keys_or_filter")
	}
	var states []trade.State
	for _, s := range f.states {
		if !slices.Contains(engine.BulkStates(act), trade.State(s)) {
			return a.usage("act.not_in_bulk", act, s, listed(engine.BulkStates(act)))
		}
		states = append(states, trade.State(s))
	}
	acts, err := a.openActs(ctx, toRead)
	if err != nil {
		return err
	}
	if filtered {
		keys, err = acts.Select(ctx, act, job, states, f.causes)
	} else {
		keys, err = a.keysOf(config, job, keys)
	}
	if err != nil {
		return err
	}
	p, err := plan(acts, ctx, job, keys)
	if err != nil {
		return err
	}
	return a.actOnRows(ctx, p, f, title)
}

// keysOf brings keys that a person typed into the ledger's form.
func (a *App) keysOf(config *Config, job string, typed []string) ([]string, error) {
	keys := make([]string, len(typed))
	for i, key := range typed {
		var err error
		if keys[i], err = a.checkKey(config, job, key); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// confirmRows asks whether a plan for rows shall be done; of many rows the number must be typed.
func (a *App) confirmRows(plan engine.RowPlan, f rowActFlags) error {
	n := plan.Count()
	switch {
	case f.count >= 0 && f.count != n:
		return a.usage("act.other_count", f.count, n)
	case n <= manyRows:
		return a.confirm(f.yes)
	case f.yes && f.count < 0:
		return a.usage("act.needs_count", n, n)
	case f.yes:
		return nil
	}
	return a.ask(fmt.Sprintf(a.text("act.ask_count"), n), func(answer string) bool { return answer == strconv.Itoa(n) })
}

// actOnRows shows what an act would do to rows, asks, and does it. It fails when a row was refused.
func (a *App) actOnRows(ctx context.Context, plan engine.RowPlan, f rowActFlags, title i18n.Key) error {
	a.tell(title)
	for i, s := range plan.Steps {
		if i == planShown {
			a.tell("plan.more", len(plan.Steps)-i)
			break
		}
		a.tellStep(plan, s)
	}
	if plan.Possible() {
		if err := a.confirmRows(plan, f); err != nil {
			return err
		}
		acts, err := a.openActs(ctx, toWrite)
		if err != nil {
			return err
		}
		shown := plan
		if plan, err = acts.Do(ctx, shown, a.person(f.actFlags)); err != nil {
			if slices.ContainsFunc(plan.Steps, func(s engine.RowStep) bool { return s.Done }) {
				a.tell("act.partly")
			}
			return err
		}
	} else {
		a.tell("act.nothing")
	}
	return a.tellRows(plan)
}

// tellStep shows one row of a plan: what would be done to it and what a person must know for that,
// or why it cannot be done.
func (a *App) tellStep(plan engine.RowPlan, s engine.RowStep) {
	v := a.voice()
	if s.Refused != engine.NotRefused {
		a.tell("act.refused", v.subject(plan.Job, s.Key, s.Before.Shown), a.text(refusalOf(s.Refused)))
	} else {
		a.tell("act.row", v.subject(plan.Job, s.Key, s.Before.Shown), v.reason(s.Before))
	}
	for _, text := range append(v.sinceSent(s.Before, s.Differences), v.decision(plan.Act, s)...) {
		a.tell("act.line", text)
	}
}

// rowActJSON is one line of what an act on rows says.
type rowActJSON struct {
	Act     string             `json:"act"`
	Job     string             `json:"job"`
	Key     string             `json:"key"`
	Done    bool               `json:"done"`
	Refused *string            `json:"refused"` // why not; null when it was done
	State   *trade.State       `json:"state"`   // where the row stands; null for one that is not known
	Flags   []trade.Flag       `json:"flags"`
	Changes []trade.Difference `json:"changes"` // what the person was shown

	// Of resend and adopt only.
	Generation int              `json:"generation,omitempty"`
	RemoteID   string           `json:"remote_id,omitempty"`
	Remaining  int              `json:"quarantine_left_seconds,omitempty"`
	Holder     *holderJSON      `json:"holder,omitempty"`
	Reading    *engine.Readback `json:"reading,omitempty"`
	Problems   []fieldJSON      `json:"problems,omitempty"`
	WaitingFor []trade.Awaited  `json:"waiting_for,omitempty"`
}

type holderJSON struct {
	Job string `json:"job"`
	Key string `json:"key"`
}

func rowActOf(plan engine.RowPlan, s engine.RowStep) rowActJSON {
	entry := s.Before
	if s.Done {
		entry = s.After
	}
	out := rowActJSON{
		Act: plan.Act, Job: plan.Job, Key: s.Key, Done: s.Done, Refused: orNull(string(s.Refused)),
		State: orNull(entry.State),
		Flags: orEmpty(entry.Flags), Changes: orEmpty(s.Differences),
	}
	if plan.Act != "resend" && plan.Act != "adopt" {
		return out
	}
	out.Generation, out.RemoteID, out.Remaining, out.Reading = entry.Generation, entry.RemoteID,
		roundUp(s.Remaining), s.Reading
	out.WaitingFor = s.WaitingFor
	for _, p := range s.Problems {
		out.Problems = append(out.Problems, fieldJSON{p.Field, p.Rule, p.Column, p.Value})
	}
	if s.Holder != (trade.ParentKey{}) {
		out.Holder = &holderJSON{s.Holder.Job, s.Holder.Key}
	}
	return out
}

func (a *App) tellRows(plan engine.RowPlan) error {
	refused := false
	for _, s := range plan.Steps {
		refused = refused || !s.Done
		switch {
		case a.asJSON:
			if err := a.printJSON(rowActOf(plan, s)); err != nil {
				return err
			}
		case s.Done:
			a.show("act.done", a.voice().subject(plan.Job, s.Key, s.Before.Shown))
		case s.Refused == engine.Moved: // the others were told with the plan
			a.show("act.refused", a.voice().subject(plan.Job, s.Key, s.Before.Shown), a.text(refusalOf(s.Refused)))
		}
	}
	if refused {
		return &exitError{exitFailed}
	}
	return nil
}

// refusalOf says why an act cannot be done.
func refusalOf(r engine.Refusal) i18n.Key {
	if key := i18n.Key("decision.refused." + r); i18n.CLI.Has(key) {
		return key
	}
	return i18n.Key("refusal." + r)
}
