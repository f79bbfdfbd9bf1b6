package commands

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/trade"
)

// inboxFlags are the flags that select events.
type inboxFlags struct {
	event, text, since string
	open               bool
	limit              int
}

func (f *inboxFlags) add(a *cli.App, cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.event, "event", "", "only this `EVENT`")
	cmd.Flags().StringVar(&f.text, "text", "", "only those whose body has this `TEXT`: an id, a word")
	cmd.Flags().StringVar(&f.since, "since", "", "only what came in the last `D`: 2d, 12h, 2026-01-31")
	cmd.Flags().BoolVar(&f.open, "open", false, "only events that are not processed yet")
	cmd.Flags().IntVar(&f.limit, "limit", 0, "the newest `N`; default: all")
	cli.Completes(a, cmd, "event", apiclient.WebhookEvents)
}

func newInboxCommand(a *cli.App) *cobra.Command {
	var f inboxFlags
	cmd := a.Command("inbox [SEQ]", "list received events; with a number, show the whole event", cli.Arity{Least: 0, Most: 1},
		func(ctx context.Context, args []string) error {
			if len(args) == 1 {
				seq := args[0]
				events, err := inboxEvents(ctx, a, []string{seq}, inboxFlags{})
				if err != nil {
					return err
				}
				if len(events) == 0 {
					return a.Error("there is no event %s in the inbox", seq)
				}
				e := events[0]
				if a.AsJSON {
					out := office.EventOf(e)
					out.Body = string(e.Body)
					if json.Valid(e.Body) {
						out.Body = json.RawMessage(e.Body)
					}
					return a.PrintJSON(out)
				}
				v := a.Voice()
				a.Show("Event %d, %s, since %s, %d {time|times}, from %s", e.Seq, e.Event, v.Moment(e.FirstAt), e.Times, e.From)
				if e.Outcome.Code != "" {
					a.Line("  " + v.Say(e.Outcome))
				}
				a.PrintIndented(e.Body)
				return nil
			}
			events, err := inboxEvents(ctx, a, nil, f)
			if err != nil {
				return err
			}
			if a.AsJSON {
				return cli.PrintEach(a, trade.Map(events, office.EventOf))
			}
			v, head := a.Voice(), []i18n.Key{"No.", "Event", "When", "Times", "Outcome"}
			return cli.PrintTable(a, events, head, func(e trade.InboxEvent) []any {
				outcome := v.Say(e.Outcome)
				if !e.NextAt.IsZero() {
					outcome = v.Text("not yet processed")
				}
				return []any{e.Seq, e.Event, v.Moment(e.LastAt), e.Times, cli.Plain(outcome)}
			})
		})
	f.add(a, cmd)
	return cmd
}

func newReplayCommand(a *cli.App) *cobra.Command {
	var f inboxFlags
	var act cli.ActFlags
	cmd := a.Command("replay [SEQ…] --reason TEXT", "process events again", cli.AnyArgs,
		func(ctx context.Context, args []string) error {
			if err := a.NeedReason(act); err != nil {
				return err
			}
			if len(args) == 0 && f == (inboxFlags{}) {
				return a.Usage("give the events: numbers, or --event, --text, --since")
			}
			events, err := inboxEvents(ctx, a, args, f)
			if err != nil {
				return err
			}
			if len(events) == 0 {
				a.Tell("There is nothing to do.")
				return nil
			}
			a.Tell("%d {event|events}, from %d to %d, will be processed again. This sends nothing again.", len(events), events[len(events)-1].Seq, events[0].Seq)
			o, err := a.ConfirmedOffice(ctx, act.Yes)
			if err != nil {
				return err
			}
			listener, err := a.Listener(o)
			if err != nil {
				return err
			}
			n, err := o.Replay(ctx, events, listener, a.Person(act))
			if err != nil {
				return err
			}
			return a.Answer(map[string]int{"replayed": n}, "%d {event|events} processed again", n)
		})
	f.add(a, cmd)
	act.Add(cmd)
	return cmd
}

// inboxEvents returns the events that flags and numbers select, newest first.
func inboxEvents(ctx context.Context, a *cli.App, args []string, f inboxFlags) ([]trade.InboxEvent, error) {
	filter := trade.InboxFilter{Text: f.text, Open: f.open, Limit: f.limit}
	config, err := a.LoadConfig()
	if err != nil {
		return nil, err
	}
	if f.event != "" {
		event, err := Event(a, f.event)
		if err != nil {
			return nil, err
		}
		filter.Event = string(event)
	}
	if f.since != "" {
		since, ok := cli.ParseSince(f.since, office.Now(), config.Zone())
		if !ok {
			return nil, a.Usage("--%s %q is neither an age (2h, 7d) nor a date (2026-11-21)", "since", f.since)
		}
		filter.Since = since
	}
	for _, text := range args {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 {
			return nil, a.Usage("%q is not the number of an event; `webhooks inbox` shows the numbers", text)
		}
		filter.Seqs = append(filter.Seqs, n)
	}
	o, err := a.Office(ctx, cli.ToRead, cli.NoERP)
	if err != nil {
		return nil, err
	}
	return o.Inbox(ctx, filter)
}

// NewWebhooksCommand makes the command webhooks.
func NewWebhooksCommand(a *cli.App) *cobra.Command {
	events := cli.Texts(apiclient.WebhookEvents)
	var planned []string
	plan := a.Command("plan", "compare the declared webhooks with the platform; change nothing", cli.Exactly(0), func(ctx context.Context, _ []string) error {
		steps, err := plannedHooks(ctx, a, planned)
		if err != nil {
			return err
		}
		return showHooks(a, steps)
	})
	plan.Flags().StringSliceVar(&planned, "take-over", nil,
		"replace the webhooks that others registered for these `EVENTS`")
	cli.Completes(a, plan, "take-over", events)

	var f cli.ActFlags
	var taken []string
	apply := a.Command("apply --reason TEXT", "register, change and remove our webhooks on the platform until they match the configuration", cli.Exactly(0),
		func(ctx context.Context, _ []string) error {
			if err := a.NeedReason(f); err != nil {
				return err
			}
			steps, err := plannedHooks(ctx, a, taken)
			if err != nil {
				return err
			}
			return doHooks(ctx, a, steps, f)
		})
	f.Add(apply)
	apply.Flags().StringSliceVar(&taken, "take-over", nil,
		"replace the webhooks that others registered for these `EVENTS`")
	cli.Completes(a, apply, "take-over", events)

	list := a.Command("list", "list what the platform has registered, and who owns it", cli.Exactly(0),
		func(ctx context.Context, _ []string) error { return listHooks(ctx, a, nil) })
	show := a.Command("show EVENT", "show the registration of one event", cli.Exactly(1),
		func(ctx context.Context, args []string) error {
			event, err := Event(a, args[0])
			if err != nil {
				return err
			}
			return listHooks(ctx, a, []apiclient.WebhookEvent{event})
		})
	show.ValidArgsFunction = cobra.FixedCompletions(events, cobra.ShellCompDirectiveNoFileComp)

	var deletes cli.ActFlags
	remove := a.Command("delete EVENT… --reason TEXT", "remove our registrations from the platform", cli.Arity{Least: 1, Most: -1},
		func(ctx context.Context, args []string) error {
			if err := a.NeedReason(deletes); err != nil {
				return err
			}
			var events []apiclient.WebhookEvent
			for _, name := range args {
				event, err := Event(a, name)
				if err != nil {
					return err
				}
				events = append(events, event)
			}
			r, err := openRegistrar(ctx, a, cli.ToRead)
			if err != nil {
				return err
			}
			steps, err := r.PlanRemoval(ctx, events)
			if err != nil {
				return readFailed(a, err)
			}
			return doHooks(ctx, a, steps, deletes)
		})
	deletes.Add(remove)
	remove.ValidArgsFunction = cobra.FixedCompletions(events, cobra.ShellCompDirectiveNoFileComp)

	group := a.Group("webhooks", "webhooks on the platform, as declared in the configuration")
	group.AddCommand(plan, apply, list, show, remove, newInboxCommand(a), newReplayCommand(a))
	return group
}

// openRegistrar returns who knows our registrations.
func openRegistrar(ctx context.Context, a *cli.App, how cli.Access) (*office.Registrar, error) {
	o, err := a.Office(ctx, how, cli.NoERP)
	if err != nil {
		return nil, err
	}
	client, err := a.OpenAPI()
	if err != nil {
		return nil, err
	}
	return o.Registrar(ctx, client)
}

// plannedHooks returns what apply would do.
func plannedHooks(ctx context.Context, a *cli.App, takeOver []string) ([]office.HookStep, error) {
	config, err := a.LoadConfig()
	if err != nil {
		return nil, err
	}
	if !config.Webhooks.Used() {
		return nil, a.Error("the configuration has no webhooks: see docs/webhooks.pt-BR.md")
	}
	r, err := openRegistrar(ctx, a, cli.ToRead)
	if err != nil {
		return nil, err
	}
	steps, err := r.Plan(ctx, takeOver)
	if err != nil {
		return nil, readFailed(a, err)
	}
	return steps, nil
}

// showHooks prints steps.
func showHooks(a *cli.App, steps []office.HookStep) error {
	if a.AsJSON {
		for i, s := range steps {
			steps[i].Text = words.Machine.Text(s.Why)
		}
		return cli.PrintEach(a, steps)
	}
	v, head := a.Voice(), []i18n.Key{"Event", "hooks.head_action", "Address", "Why"}
	return cli.PrintTable(a, steps, head, func(s office.HookStep) []any {
		why := v.Text(s.Why)
		if !s.Until.IsZero() {
			why += " (" + v.Moment(s.Until) + ")"
		}
		return []any{string(s.Event), v.Text("hook.action." + string(s.Action)), cli.OrDash(s.Address), why}
	})
}

// doHooks shows a plan, asks, and does it event by event. If a step fails, the earlier ones remain
// done.
func doHooks(ctx context.Context, a *cli.App, steps []office.HookStep, f cli.ActFlags) error {
	waits := func(s office.HookStep) bool { return s.Action == office.HookWait || s.Action == office.HookForeign }
	does := func(s office.HookStep) bool { return s.Action.Changes() || s.Action == office.HookConfirm }
	if !slices.ContainsFunc(steps, does) {
		if err := showHooks(a, steps); err != nil {
			return err
		}
		if slices.ContainsFunc(steps, waits) {
			return cli.ErrFailed
		}
		a.Tell("Everything is as declared.")
		return nil
	}
	a.Tell("On the platform %s:", a.Config.API.BaseURL)
	for _, s := range steps {
		a.Tell("  %s: %s (%s)", s.Event, a.Text("hook.action."+string(s.Action)), a.Text(s.Why))
	}
	if err := a.Confirm(f.Yes); err != nil {
		return err
	}
	r, err := openRegistrar(ctx, a, cli.ToWrite)
	if err != nil {
		return err
	}
	failed := false
	for _, s := range steps {
		if ctx.Err() != nil {
			return cli.ErrFailed
		}
		done, err := r.Do(ctx, s, a.Person(f))
		if err != nil {
			return err
		}
		ok := done.Done || s.Action == office.HookKeep
		failed = failed || !ok
		problem := done.Problem
		if !done.Done && problem == "" {
			problem = s.Why
		}
		if done.Err != nil {
			a.Tell("%s: %s", s.Event, done.Err)
		}
		switch {
		case a.AsJSON:
			s.Done, s.Text = done.Done, words.Machine.Text(s.Why)
			if !done.Done {
				s.Text = words.Machine.Text(problem, done.Args...)
			}
			if err := a.PrintJSON(s); err != nil {
				return err
			}
		case done.Done:
			a.Show("%s: %s: done", s.Event, a.Text("hook.action."+string(s.Action)))
		case s.Action != office.HookKeep:
			a.Show("%s: not done: %s", s.Event, a.Text(problem, done.Args...))
		}
	}
	return cli.FailedIf(failed)
}

// listHooks prints the platform's registrations, for all events or some, and whose they are.
func listHooks(ctx context.Context, a *cli.App, events []apiclient.WebhookEvent) error {
	r, err := openRegistrar(ctx, a, cli.ToRead)
	if err != nil {
		return err
	}
	steps, twice, err := r.Compare(ctx, events)
	if err != nil {
		return readFailed(a, err)
	}
	for _, event := range twice {
		a.Tell("Note: the platform has more than one webhook for %s; what it does in that case is not documented.", event)
	}
	return showHooks(a, steps)
}
