package commands

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/office"
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
