package api

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

// outFlags are the flags that select events for other programs.
type outFlags struct {
	to, since string
	open      bool
	limit     int
}

func (f *outFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.to, "to", "", "only those for this `NAME` of the configuration")
	cmd.Flags().StringVar(&f.since, "since", "", "only what happened in the last `D`: 2d, 12h, 2026-01-31")
	cmd.Flags().BoolVar(&f.open, "open", false, "only those that were not delivered")
	cmd.Flags().IntVar(&f.limit, "limit", 0, "the newest `N`; default: all")
}

// NewEventsCommand makes the command events.
func NewEventsCommand(a *cli.App) *cobra.Command {
	var listed outFlags
	list := a.Command("list", "help.events_list", cli.Exactly(0), func(cmd *cobra.Command, _ []string) error {
		return listOutbox(cmd.Context(), a, listed)
	})
	listed.add(list)

	test := a.Command("test [NAME]", "help.events_test", cli.Arity{Least: 0, Most: 1},
		func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			return testEvents(cmd.Context(), a, name)
		})

	var again outFlags
	var act cli.ActFlags
	redeliver := a.Command("redeliver [SEQ…] --reason TEXT", "help.events_redeliver", cli.AnyArgs,
		func(cmd *cobra.Command, args []string) error {
			return redeliver(cmd.Context(), a, args, again, act)
		})
	again.add(redeliver)
	act.Add(redeliver)

	group := a.Group("events", "help.events")
	group.AddCommand(list, test, redeliver)
	return group
}

// outEvents returns the events that flags and numbers select, newest first. It refuses a number of none.
func outEvents(ctx context.Context, a *cli.App, o *office.Office, args []string, f outFlags) (
	[]trade.OutEvent, error,
) {
	seqs, err := seqsOf(a, args, "events.seq")
	if err == nil && f.limit < 0 {
		err = a.Usage("says.limit")
	}
	if err != nil {
		return nil, err
	}
	filter := trade.OutEventFilter{Target: f.to, Open: f.open, Limit: f.limit, Seqs: seqs}
	if f.since != "" {
		since, ok := cli.ParseSince(f.since, office.Now(), a.Config.Zone())
		if !ok {
			return nil, a.Usage("says.since", "since", f.since)
		}
		filter.Since = since
	}
	events, err := o.Outbox(ctx, filter)
	if err != nil {
		return nil, err
	}
	for i, seq := range seqs {
		if !slices.ContainsFunc(events, func(e trade.OutEvent) bool { return e.Seq == seq }) {
			return nil, a.Usage("events.seq", args[i])
		}
	}
	return events, nil
}

// outJSON is one line of `events list --json`.
type outJSON struct {
	Seq         int64           `json:"seq"`
	ID          string          `json:"id"` // as in the body
	To          string          `json:"to"`
	Type        trade.EventKind `json:"type"`
	At          time.Time       `json:"at"`
	Job         string          `json:"job"`
	Key         *string         `json:"key"`
	State       string          `json:"state"`
	Outcome     string          `json:"outcome"` // open, delivered, given_up
	Tries       int             `json:"tries"`
	NextAt      *time.Time      `json:"next_at"` // of an open one that was tried
	DeliveredAt *time.Time      `json:"delivered_at"`
	Fault       *string         `json:"fault"` // of the last try
}

func outJSONOf(o *office.Office, e trade.OutEvent) outJSON {
	out := outJSON{
		Seq: e.Seq, ID: o.EventID(e), To: e.Target, Type: e.Kind, At: e.At, Job: e.Job, Key: trade.OrNull(e.Key),
		State: e.State, Outcome: e.Outcome, Tries: e.Tries, Fault: trade.OrNull(e.Fault),
	}
	switch e.Outcome {
	case "":
		out.Outcome, out.NextAt = "open", trade.OrNull(e.NextAt)
	case trade.EventDelivered:
		out.DeliveredAt = trade.OrNull(e.DoneAt)
	}
	return out
}

func listOutbox(ctx context.Context, a *cli.App, f outFlags) error {
	o, err := a.Office(ctx, cli.ToRead, cli.NoERP)
	if err != nil {
		return err
	}
	events, err := outEvents(ctx, a, o, nil, f)
	if err != nil {
		return err
	}
	if a.AsJSON {
		return cli.PrintEach(a, events, func(e trade.OutEvent) outJSON { return outJSONOf(o, e) })
	}
	t, v := a.NewTable("events.head_seq", "events.head_at", "events.head_to", "events.head_type", "events.head_row",
		"events.head_outcome"), a.Voice()
	for _, e := range events {
		outcome := v.Text("events.delivered", v.Moment(e.DoneAt))
		switch {
		case e.Outcome == trade.EventGivenUp:
			outcome = v.Text("events.given_up", e.Fault)
		case e.Outcome == "" && e.Tries > 0:
			outcome = v.Text("events.failing", e.Tries, e.Fault, v.Moment(e.NextAt))
		case e.Outcome == "":
			outcome = v.Text("events.open")
		}
		t.AppendRow(table.Row{e.Seq, v.Moment(e.At), e.Target, e.Kind, e.Job + " " + e.Key, outcome})
	}
	t.Render()
	return nil
}

// testEvents sends an event of the type test.
func testEvents(ctx context.Context, a *cli.App, name string) error {
	config, err := a.LoadConfig()
	if err == nil && len(config.Events) == 0 {
		err = errors.New(a.Text("events.none"))
	}
	if err != nil {
		return err
	}
	o, err := a.Office(ctx, cli.ToRead, cli.NoERP)
	if err != nil {
		return err
	}
	tries, err := o.TryEvents(ctx, name)
	if errors.Is(err, trade.ErrNotFound) {
		return a.Usage("events.unknown", name)
	}
	if err != nil {
		return err
	}
	failed := false
	for _, try := range tries {
		failed = failed || !try.Done
		switch {
		case a.AsJSON:
			err = a.PrintJSON(try)
		case try.Done:
			a.Show("events.test_done", try.Target)
		default:
			a.Show("events.test_failed", try.Target, try.Fault)
		}
		if err != nil {
			return err
		}
	}
	if failed {
		return errors.New(a.Text("events.test_not_taken"))
	}
	return nil
}

// redeliver lets the service deliver events again.
func redeliver(ctx context.Context, a *cli.App, args []string, f outFlags, act cli.ActFlags) error {
	if err := a.NeedReason(act); err != nil {
		return err
	}
	if len(args) == 0 && f == (outFlags{}) {
		return a.Usage("events.redeliver_what")
	}
	o, err := a.Office(ctx, cli.ToWrite, cli.NoERP)
	if err != nil {
		return err
	}
	events, gone, err := redelivered(ctx, a, o, args, f)
	if err != nil {
		return err
	}
	if gone > 0 {
		a.Tell("events.redeliver_gone", gone)
	}
	if len(events) == 0 {
		a.Tell("act.nothing")
		return nil
	}
	a.Tell("events.redeliver_plan", len(events), events[len(events)-1].Seq, events[0].Seq)
	if err := a.Confirm(act.Yes); err != nil {
		return err
	}
	n, err := o.Redeliver(ctx, events, a.Person(act))
	if err != nil {
		return err
	}
	if a.AsJSON {
		return a.PrintJSON(struct {
			Redelivered int `json:"redelivered"`
		}{n})
	}
	a.Show("events.redelivered", n)
	return nil
}

// redelivered returns the events that can be delivered again, newest first, and how many of those that
// were selected are of a program that is no longer told.
func redelivered(ctx context.Context, a *cli.App, o *office.Office, args []string, f outFlags) (
	events []trade.OutEvent, gone int, err error,
) {
	events, err = outEvents(ctx, a, o, args, f)
	if err != nil {
		return nil, 0, err
	}
	told, err := o.OutboxStates(ctx)
	if err != nil {
		return nil, 0, err
	}
	all := len(events)
	events = slices.DeleteFunc(events, func(e trade.OutEvent) bool {
		return !slices.ContainsFunc(told, func(s trade.OutboxState) bool { return s.Target == e.Target })
	})
	return events, all - len(events), nil
}
