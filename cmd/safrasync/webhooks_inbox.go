package main

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/trade"
)

// inboxFlags select events.
type inboxFlags struct {
	event, text, since string
	open               bool
	limit              int
}

func (f *inboxFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.event, "event", "", "only this `EVENT`")
	cmd.Flags().StringVar(&f.text, "text", "", "only those whose body has this `TEXT`: an id, a word")
	cmd.Flags().StringVar(&f.since, "since", "", "only what came in the last `D`: 2d, 12h, 2026-01-31")
	cmd.Flags().BoolVar(&f.open, "open", false, "only what is still to be looked at")
	cmd.Flags().IntVar(&f.limit, "limit", 0, "the newest `N`; default: all")
	completes(cmd, "event", apiclient.WebhookEvents)
}

func newInboxCommand(a *App) *cobra.Command {
	var f inboxFlags
	cmd := a.command("inbox [SEQ]", "help.hooks_inbox", arity{0, 1}, func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			return a.showEvent(cmd.Context(), args[0])
		}
		return a.listInbox(cmd.Context(), f)
	})
	f.add(cmd)
	return cmd
}

func newReplayCommand(a *App) *cobra.Command {
	var f inboxFlags
	var act actFlags
	cmd := a.command("replay [SEQ…] --reason TEXT", "help.hooks_replay", anyArgs,
		func(cmd *cobra.Command, args []string) error {
			return a.replay(cmd.Context(), args, f, act)
		})
	f.add(cmd)
	act.add(cmd)
	return cmd
}

// inboxFilter makes a filter of flags and numbers.
func (a *App) inboxFilter(args []string, f inboxFlags) (trade.InboxFilter, error) {
	out := trade.InboxFilter{Text: f.text, Open: f.open, Limit: f.limit}
	config, err := a.loadConfig()
	if err != nil {
		return out, err
	}
	if f.event != "" {
		event, err := a.apiEvent(f.event)
		if err != nil {
			return out, err
		}
		out.Event = string(event)
	}
	if f.since != "" {
		since, ok := parseSince(f.since, now(), config.Zone())
		if !ok {
			return out, a.usage("says.since", f.since)
		}
		out.Since = since
	}
	for _, text := range args {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 {
			return out, a.usage("hooks.seq", text)
		}
		out.Seqs = append(out.Seqs, n)
	}
	return out, nil
}

// inboxEvents gives the events that flags and numbers select, the newest first.
func (a *App) inboxEvents(ctx context.Context, args []string, f inboxFlags) ([]trade.InboxEvent, error) {
	filter, err := a.inboxFilter(args, f)
	if err != nil {
		return nil, err
	}
	store, err := a.openLedger(ctx, toRead)
	if err != nil {
		return nil, err
	}
	return store.Inbox(ctx, filter)
}

// eventJSON is one line of `webhooks inbox --json`.
type eventJSON struct {
	Seq     int64     `json:"seq"`
	Event   string    `json:"event"`
	FirstAt time.Time `json:"first_at"`
	LastAt  time.Time `json:"last_at"`
	Times   int       `json:"times"`
	Open    bool      `json:"open"` // it is still to be looked at
	Outcome string    `json:"outcome"`
	Bytes   int       `json:"bytes"`
	Body    any       `json:"body,omitempty"` // of one event only: the JSON that came, or a text
}

func eventOf(e trade.InboxEvent) eventJSON {
	return eventJSON{
		Seq: e.Seq, Event: e.Event, FirstAt: e.FirstAt, LastAt: e.LastAt, Times: e.Times,
		Open: !e.NextAt.IsZero(), Outcome: e.Outcome, Bytes: len(e.Body),
	}
}

func (a *App) listInbox(ctx context.Context, f inboxFlags) error {
	events, err := a.inboxEvents(ctx, nil, f)
	if err != nil {
		return err
	}
	if a.asJSON {
		for _, e := range events {
			if err := a.printJSON(eventOf(e)); err != nil {
				return err
			}
		}
		return nil
	}
	t, v := a.newTable("inbox.head_seq", "inbox.head_event", "inbox.head_at", "inbox.head_times", "inbox.head_outcome"),
		a.voice()
	for _, e := range events {
		outcome := e.Outcome
		if !e.NextAt.IsZero() {
			outcome = v.text("inbox.open")
		}
		t.AppendRow(table.Row{e.Seq, e.Event, v.moment(e.LastAt), e.Times, printable(outcome)})
	}
	t.Render()
	return nil
}

// showEvent prints one event with its body as it came.
func (a *App) showEvent(ctx context.Context, seq string) error {
	events, err := a.inboxEvents(ctx, []string{seq}, inboxFlags{})
	if err != nil {
		return err
	}
	if len(events) == 0 {
		return errors.New(a.text("hooks.no_event", seq))
	}
	e := events[0]
	if a.asJSON {
		out := eventOf(e)
		if out.Body = string(e.Body); json.Valid(e.Body) {
			out.Body = json.RawMessage(e.Body)
		}
		return a.printJSON(out)
	}
	v := a.voice()
	a.show("inbox.title", e.Seq, e.Event, v.moment(e.FirstAt), e.Times, e.From)
	if e.Outcome != "" {
		a.line("  " + printable(e.Outcome))
	}
	a.printIndented(e.Body)
	return nil
}

// replay lets events be looked at once more: by the service, or here when none runs.
func (a *App) replay(ctx context.Context, args []string, f inboxFlags, act actFlags) error {
	if err := a.needReason(act); err != nil {
		return err
	}
	if len(args) == 0 && f == (inboxFlags{}) {
		return a.usage("hooks.replay_what")
	}
	events, err := a.inboxEvents(ctx, args, f)
	if err != nil {
		return err
	}
	if len(events) == 0 {
		a.tell("act.nothing")
		return nil
	}
	a.tell("hooks.replay_plan", len(events), events[len(events)-1].Seq, events[0].Seq)
	if err := a.confirm(act.yes); err != nil {
		return err
	}
	store, err := a.openLedger(ctx, toWrite)
	if err != nil {
		return err
	}
	var seqs []int64
	for _, e := range events {
		seqs = append(seqs, e.Seq)
	}
	record, err := a.audit(act, "webhooks replay", "inbox", struct {
		Events int `json:"events"`
	}{len(seqs)})
	if err != nil {
		return err
	}
	n, err := store.ReplayEvents(ctx, seqs, now(), record)
	if err != nil {
		return err
	}
	hearing, err := a.hearing(store)
	if err != nil {
		return err
	}
	if _, err := hearing.Pass(ctx); err != nil {
		return err
	}
	if a.asJSON {
		return a.printJSON(struct {
			Replayed int `json:"replayed"`
		}{n})
	}
	a.show("hooks.replayed", n)
	return nil
}
