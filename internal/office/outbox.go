package office

import (
	"context"
	"slices"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/internal/alert"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/outbox"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// EventSender tells other programs of changes.
type EventSender = outbox.Sender

// NewEventSender returns the sender of events to the configured programs. It must run also if there
// are none: then it ends what an earlier configuration began.
func NewEventSender(conf *config.Config, store *state.Store, log *zap.Logger, count func(target, result string)) (
	*EventSender, error,
) {
	targets, err := eventTargets(conf)
	if err != nil {
		return nil, err
	}
	return &outbox.Sender{
		Ledger: store, Targets: targets, Now: Now, Log: log, Count: count,
		Feed: conf.HTTPAPI.GivesRows(),
	}, nil
}

// eventTargets returns the configured programs.
func eventTargets(conf *config.Config) ([]outbox.Target, error) {
	told := conf.Events.Targets()
	out := make([]outbox.Target, len(told))
	for i, e := range conf.Events {
		roots, err := RootsOf(e.CAFile)
		if err != nil {
			return nil, err
		}
		out[i] = outbox.Target{EventTarget: told[i], Secret: e.Secret.Reveal, Options: alert.WebhookOptions{
			URL: e.URL.Reveal, Roots: roots, Timeout: e.Timeout, Proxy: e.Proxy.Reveal,
		}}
	}
	return out, nil
}

// Outbox returns events for other programs, the newest first.
func (o *Office) Outbox(ctx context.Context, filter trade.OutEventFilter) ([]trade.OutEvent, error) {
	return o.store.Outbox(ctx, filter)
}

// OutboxStates returns what the programs have not been told.
func (o *Office) OutboxStates(ctx context.Context) ([]trade.OutboxState, error) {
	return o.store.OutboxStates(ctx)
}

// EventID returns the id with which an event is sent.
func (o *Office) EventID(e trade.OutEvent) string { return outbox.IDOf(o.store.LedgerID(), e) }

// Redeliver lets the service deliver events again. It returns how many.
func (o *Office) Redeliver(ctx context.Context, events []trade.OutEvent, who trade.Person) (int, error) {
	if !who.Role.May(trade.Administrator) {
		return 0, trade.ErrRole
	}
	record, err := who.Record(o.now(), "events redeliver", "outbox", map[string]int{"events": len(events)})
	if err != nil {
		return 0, err
	}
	return o.store.Redeliver(ctx, events, record)
}

// ProgramTold is a program of the configuration that is told of changes, and what became of that.
type ProgramTold struct {
	trade.OutboxState
	trade.OutboxLast
	Begun  bool        // the service tells it; else it has not read this configuration yet
	Events []ToldEvent // the latest, newest first
}

// Fails reports whether it has not taken events that it was sent.
func (p ProgramTold) Fails() bool { return p.Fault != "" || p.GivenUp > 0 }

// Why says what the last fault means.
func (p ProgramTold) Why() trade.Sentence { return outbox.Why(p.Fault) }

// Most returns how many events are shown of more; 0: these are all.
func (p ProgramTold) Most() int {
	if len(p.Events) < toldShown {
		return 0
	}
	return toldShown
}

// ToldEvent is an event for a program; Row is the zero row if it is about a job.
type ToldEvent struct {
	trade.OutEvent
	Row trade.Entry
}

// RowState is the state in which the event tells the row to be.
func (e ToldEvent) RowState() trade.State { return trade.State(e.State) }

// Why says what the fault of the last try means.
func (e ToldEvent) Why() trade.Sentence { return outbox.Why(e.Fault) }

// toldShown is how many events of a program a page shows.
const toldShown = 50

// Programs returns the programs of the configuration that are told of changes.
func (o *Office) Programs(ctx context.Context) ([]ProgramTold, error) {
	states, err := o.store.OutboxStates(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]ProgramTold, len(o.conf.Events))
	for i, program := range o.conf.Events {
		p := &out[i]
		p.Target = program.Name
		if at := slices.IndexFunc(states, func(s trade.OutboxState) bool { return s.Target == p.Target }); at >= 0 {
			p.OutboxState, p.Begun = states[at], true
		}
		p.OutboxLast, err = o.store.OutboxLast(ctx, p.Target)
		if err != nil {
			return nil, err
		}
		p.Events, err = o.toldEvents(ctx, p.Target)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// toldEvents returns the latest events of a program with their rows.
func (o *Office) toldEvents(ctx context.Context, target string) ([]ToldEvent, error) {
	events, err := o.store.Outbox(ctx, trade.OutEventFilter{Target: target, Limit: toldShown})
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, e := range events {
		if e.EntryID != 0 && !slices.Contains(ids, e.EntryID) {
			ids = append(ids, e.EntryID)
		}
	}
	rows, err := o.store.Entries(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make([]ToldEvent, len(events))
	for i, e := range events {
		out[i].OutEvent = e
		if at := slices.IndexFunc(rows, func(r trade.Entry) bool { return r.ID == e.EntryID }); at >= 0 {
			out[i].Row = rows[at]
		}
	}
	return out, nil
}

// Untaken returns the events that a program has not taken, waiting or given up, up to the one with a
// number (0: all), newest first. It returns trade.ErrNotFound for a program that is not told.
func (o *Office) Untaken(ctx context.Context, target string, until int64) ([]trade.OutEvent, error) {
	if !slices.ContainsFunc(o.conf.Events, func(e config.EventConfig) bool { return e.Name == target }) {
		return nil, trade.ErrNotFound
	}
	events, err := o.store.Outbox(ctx, trade.OutEventFilter{Target: target, Open: true})
	return slices.DeleteFunc(events, func(e trade.OutEvent) bool { return until > 0 && e.Seq > until }), err
}

// EventTry is what became of an event that was sent to try an address.
type EventTry struct {
	Target string `json:"target"`
	Done   bool   `json:"done"`
	Fault  string `json:"fault"` // "" if it was taken
}

// TryEvents sends an event of the type test to each configured program, or only to one.
func (o *Office) TryEvents(ctx context.Context, name string) ([]EventTry, error) {
	targets, err := eventTargets(o.conf)
	if err != nil {
		return nil, err
	}
	var out []EventTry
	for _, t := range targets {
		if name != "" && t.Name != name {
			continue
		}
		try := EventTry{Target: t.Name}
		if fault := outbox.Try(ctx, t, o.store.LedgerID(), o.now()); fault != nil {
			try.Fault = fault.Code
		}
		try.Done = try.Fault == ""
		out = append(out, try)
	}
	if name != "" && len(out) == 0 {
		return nil, trade.ErrNotFound
	}
	return out, nil
}
