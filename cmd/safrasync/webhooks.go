package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/trade"
)

func newWebhooksCommand(a *App) *cobra.Command {
	events := texts(apiclient.WebhookEvents)
	var planned []string
	plan := a.command("plan", "help.hooks_plan", exactly(0), func(cmd *cobra.Command, _ []string) error {
		return a.planHooks(cmd.Context(), planned)
	})
	plan.Flags().StringSliceVar(&planned, "take-over", nil,
		"replace the webhooks that others registered for these `EVENTS`")
	completes(plan, "take-over", events)

	var f actFlags
	var taken []string
	apply := a.command("apply --reason TEXT", "help.hooks_apply", exactly(0),
		func(cmd *cobra.Command, _ []string) error {
			return a.applyHooks(cmd.Context(), taken, f)
		})
	f.add(apply)
	apply.Flags().StringSliceVar(&taken, "take-over", nil,
		"replace the webhooks that others registered for these `EVENTS`")
	completes(apply, "take-over", events)

	list := a.command("list", "help.hooks_list", exactly(0),
		func(cmd *cobra.Command, _ []string) error { return a.listHooks(cmd.Context(), nil) })
	show := a.command("show EVENT", "help.hooks_show", exactly(1), func(cmd *cobra.Command, args []string) error {
		event, err := a.apiEvent(args[0])
		if err != nil {
			return err
		}
		return a.listHooks(cmd.Context(), []apiclient.WebhookEvent{event})
	})
	show.ValidArgsFunction = cobra.FixedCompletions(events, cobra.ShellCompDirectiveNoFileComp)

	var deletes actFlags
	remove := a.command("delete EVENT… --reason TEXT", "help.hooks_delete", arity{1, -1},
		func(cmd *cobra.Command, args []string) error {
			return a.deleteHooks(cmd.Context(), args, deletes)
		})
	deletes.add(remove)
	remove.ValidArgsFunction = cobra.FixedCompletions(events, cobra.ShellCompDirectiveNoFileComp)

	group := a.group("webhooks", "help.hooks")
	group.AddCommand(plan, apply, list, show, remove, newInboxCommand(a), newReplayCommand(a))
	return group
}

// hookJSON is one line of `webhooks plan|apply|list|show|delete --json`.
type hookJSON struct {
	Event  string     `json:"event"`
	Action hookAction `json:"action"` // that is needed, or that was asked for
	Done   bool       `json:"done"`
	Why    string     `json:"why"`
	// where the platform calls, without the secret path; "" = it has none, or does not show it
	Address string     `json:"address"`
	ID      *string    `json:"id"` // of the platform
	Ours    bool       `json:"ours"`
	Since   *time.Time `json:"since"` // when the platform was seen to have it; null = not yet, or not ours
}

func (a *App) hookJSONOf(s hookStep, done bool, why string) hookJSON {
	out := hookJSON{Event: string(s.Event), Action: s.Action, Done: done, Why: why, Ours: s.Ours != nil}
	if s.There != nil {
		out.ID = orNull(s.There.ID)
		out.Address, _ = hookPath(s.There.URL)
		if s.Ours == nil {
			out.Address = shownURL(s.There.URL)
		}
	}
	if s.Ours != nil {
		out.Since = timeOrNull(s.Ours.SettledAt)
	}
	return out
}

// needHooks refuses where nothing is declared.
func (a *App) needHooks() error {
	config, err := a.loadConfig()
	if err == nil && !config.Webhooks.used() {
		return errors.New(a.text("hooks.none"))
	}
	return err
}

// planHooks shows what apply would do.
func (a *App) planHooks(ctx context.Context, takeOver []string) error {
	if err := a.needHooks(); err != nil {
		return err
	}
	r, err := a.openRegistrar(ctx, toRead)
	if err != nil {
		return err
	}
	steps, err := r.plan(ctx, takeOver)
	if err != nil {
		return a.readFailed(err)
	}
	return a.showHooks(steps)
}

// showHooks lists steps.
func (a *App) showHooks(steps []hookStep) error {
	if a.asJSON {
		for _, s := range steps {
			if err := a.printJSON(a.hookJSONOf(s, false, machine.text(s.Why))); err != nil {
				return err
			}
		}
		return nil
	}
	t, v := a.newTable("hooks.head_event", "hooks.head_action", "hooks.head_address", "hooks.head_why"), a.voice()
	for _, s := range steps {
		line := a.hookJSONOf(s, false, "")
		why := v.text(s.Why)
		if !s.Until.IsZero() {
			why += " (" + v.moment(s.Until) + ")"
		}
		t.AppendRow(table.Row{
			line.Event, v.text(i18n.Key("hook.action." + string(s.Action))),
			printable(orDash(line.Address)), why,
		})
	}
	t.Render()
	return nil
}

// applyHooks brings the platform to what is declared.
func (a *App) applyHooks(ctx context.Context, takeOver []string, f actFlags) error {
	if err := a.needHooks(); err != nil {
		return err
	}
	if err := a.needReason(f); err != nil {
		return err
	}
	r, err := a.openRegistrar(ctx, toRead)
	if err != nil {
		return err
	}
	steps, err := r.plan(ctx, takeOver)
	if err != nil {
		return a.readFailed(err)
	}
	return a.doHooks(ctx, steps, f)
}

// deleteHooks takes registrations of ours away, declared or not.
func (a *App) deleteHooks(ctx context.Context, names []string, f actFlags) error {
	if err := a.needReason(f); err != nil {
		return err
	}
	var events []apiclient.WebhookEvent
	for _, name := range names {
		event, err := a.apiEvent(name)
		if err != nil {
			return err
		}
		events = append(events, event)
	}
	r, err := a.openRegistrar(ctx, toRead)
	if err != nil {
		return err
	}
	var steps []hookStep
	for _, event := range events {
		step, err := r.step(ctx, event, false, false)
		if err != nil {
			return a.readFailed(err)
		}
		if step.Action == hookRemove {
			step.Why = "hook.why_asked"
		}
		steps = append(steps, step)
	}
	return a.doHooks(ctx, steps, f)
}

// doHooks shows a plan, asks, and does it, event by event: what was done stays done when a later
// one fails.
func (a *App) doHooks(ctx context.Context, steps []hookStep, f actFlags) error {
	waits := func(s hookStep) bool { return s.Action == hookWait || s.Action == hookForeign }
	if !slices.ContainsFunc(steps, func(s hookStep) bool { return s.Action.changes() || s.Action == hookConfirm }) {
		if err := a.showHooks(steps); err != nil {
			return err
		}
		if slices.ContainsFunc(steps, waits) {
			return &exitError{exitFailed}
		}
		a.tell("hooks.nothing")
		return nil
	}
	a.tell("hooks.plan", a.config.API.BaseURL)
	for _, s := range steps {
		a.tell("hooks.plan_line", s.Event, a.text(i18n.Key("hook.action."+string(s.Action))), a.text(s.Why))
	}
	if err := a.confirm(f.yes); err != nil {
		return err
	}
	r, err := a.openRegistrar(ctx, toWrite)
	if err != nil {
		return err
	}
	failed := false
	for _, s := range steps {
		if ctx.Err() != nil {
			return &exitError{exitFailed}
		}
		done, err := r.do(ctx, s, f)
		if err != nil {
			return err
		}
		ok := done.Done || s.Action == hookKeep
		failed = failed || !ok
		if err := a.tellHook(s, done); err != nil {
			return err
		}
	}
	if failed {
		return &exitError{exitFailed}
	}
	return nil
}

func (a *App) tellHook(s hookStep, done hookDone) error {
	problem := done.Problem
	if !done.Done && problem == "" {
		problem = s.Why
	}
	if done.Err != nil {
		a.tell("hooks.failed", s.Event, done.Err)
	}
	if a.asJSON {
		why := machine.text(s.Why)
		if !done.Done {
			why = machine.text(problem, done.Args...)
		}
		return a.printJSON(a.hookJSONOf(s, done.Done, why))
	}
	switch {
	case done.Done:
		a.show("hooks.done", s.Event, a.text(i18n.Key("hook.action."+string(s.Action))))
	case s.Action != hookKeep:
		a.show("hooks.not_done", s.Event, a.text(problem, done.Args...))
	}
	return nil
}

// listHooks shows what the platform has, of all events or of some, and whose it is.
func (a *App) listHooks(ctx context.Context, events []apiclient.WebhookEvent) error {
	r, err := a.openRegistrar(ctx, toRead)
	if err != nil {
		return err
	}
	declared := a.config.Webhooks.events()
	if events == nil {
		hooks, err := r.client.Webhooks(ctx)
		if err != nil {
			return a.readFailed(err)
		}
		for _, e := range apiclient.WebhookEvents {
			has := slices.ContainsFunc(hooks, func(w apiclient.Webhook) bool { return w.WebhookEvent == e })
			if has || slices.Contains(declared, e) ||
				slices.ContainsFunc(r.ours[string(e)],
					func(w trade.Webhook) bool { return w.State != trade.WebhookRetired }) {
				events = append(events, e)
			}
		}
		a.tellTwice(hooks)
	}
	var steps []hookStep
	for _, e := range events {
		step, err := r.step(ctx, e, slices.Contains(declared, e), false)
		if err != nil {
			return a.readFailed(err)
		}
		steps = append(steps, step)
	}
	return a.showHooks(steps)
}

// tellTwice warns of events that the platform has several webhooks for: which one it calls is not
// documented.
func (a *App) tellTwice(hooks []apiclient.Webhook) {
	count := map[apiclient.WebhookEvent]int{}
	for _, w := range hooks {
		if count[w.WebhookEvent]++; count[w.WebhookEvent] == 2 && w.WebhookEvent != "" {
			a.tell("hooks.twice", w.WebhookEvent)
		}
	}
}
