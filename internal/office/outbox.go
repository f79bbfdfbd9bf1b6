package office

import (
	"context"

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
