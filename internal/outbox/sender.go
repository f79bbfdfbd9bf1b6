package outbox

import (
	"bytes"
	"context"
	"net/http"
	gosync "sync"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/internal/alert"
	"github.com/safrasync/safrasync/trade"
)

// Keep is how long delivery of an event is tried, and how long a delivered one can be looked at and
// delivered again.
const Keep = 7 * 24 * time.Hour

const (
	lookEvery  = 2 * time.Second // for events that are due
	careEvery  = time.Minute     // says who is told
	pruneEvery = time.Hour
	batch      = 8                // events, each of another row, that are sent at once
	leaseSpare = 20 * time.Second // from the end of the last request of a batch until another may deliver
)

// EventLedger stores events and who is told.
type EventLedger interface {
	LedgerID() string
	Tell(ctx context.Context, targets []trade.EventTarget) error
	Feed(ctx context.Context, wanted bool) error
	TakeTarget(ctx context.Context, target string, lasts time.Duration) (bool, error)
	DueOutbox(ctx context.Context, target string, now time.Time, limit int) ([]trade.OutEvent, error)
	SettleEvents(ctx context.Context, target string, events []trade.OutEvent, answered bool,
		pause func(failures int) time.Time) error
	PruneOutbox(ctx context.Context, now time.Time, keep time.Duration) (int, error)
}

// Target is a program that is told.
type Target struct {
	trade.EventTarget
	Secret  func() string
	Options alert.WebhookOptions // its Form does not count
}

// Sender delivers events.
type Sender struct {
	Ledger  EventLedger
	Targets []Target
	Feed    bool // programs ask for the changes of rows
	Now     func() time.Time
	Log     *zap.Logger
	Count   func(target, result string) // result is done, or the code of the fault
}

// Begin says in the ledger who is told from now on. It must be called before anything changes rows.
func (s *Sender) Begin(ctx context.Context) {
	if err := s.care(ctx); err != nil && ctx.Err() == nil {
		s.Log.Error("events: the ledger does not know yet who is told; tried again each minute", zap.Error(err))
	}
}

// Run delivers events until ctx ends. It must run also where nobody is told: it then ends what an
// earlier configuration began.
func (s *Sender) Run(ctx context.Context) {
	var working gosync.WaitGroup
	working.Go(func() { s.every(ctx, careEvery, s.care) })
	for _, t := range s.Targets {
		client := t.Options.Client()
		working.Go(func() {
			s.every(ctx, lookEvery, func(ctx context.Context) error {
				for {
					more, err := s.deliver(ctx, t, client)
					if err != nil || !more {
						return err
					}
				}
			})
		})
	}
	working.Go(func() { s.every(ctx, pruneEvery, s.prune) }) // also what a target left that is no longer told
	working.Wait()
}

// every calls fn at once and then again and again. An error is logged, and only if it is another than
// the last one.
func (s *Sender) every(ctx context.Context, pause time.Duration, fn func(context.Context) error) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	said := ""
	for {
		text := ""
		if err := fn(ctx); err != nil && ctx.Err() == nil {
			text = err.Error()
			if text != said {
				s.Log.Error("events: the ledger cannot be used", zap.Error(err))
			}
		}
		said = text
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// care says in the ledger who is told, and whether changes are kept in order.
func (s *Sender) care(ctx context.Context) error {
	targets := make([]trade.EventTarget, len(s.Targets))
	for i, t := range s.Targets {
		targets[i] = t.EventTarget
	}
	if err := s.Ledger.Tell(ctx, targets); err != nil {
		return err
	}
	return s.Ledger.Feed(ctx, s.Feed)
}

func (s *Sender) prune(ctx context.Context) error {
	n, err := s.Ledger.PruneOutbox(ctx, s.Now(), Keep)
	if n > 0 {
		s.Log.Error("events given up: nobody took them for a week", zap.Int("events", n))
	}
	return err
}

// deliver tries the events that are due to one program once, at most a batch. more reports that others
// may be due.
func (s *Sender) deliver(ctx context.Context, t Target, client *http.Client) (more bool, err error) {
	due, err := s.Ledger.DueOutbox(ctx, t.Name, s.Now(), 1)
	if err != nil || len(due) == 0 || ctx.Err() != nil {
		return false, err
	}
	taken, err := s.Ledger.TakeTarget(ctx, t.Name, t.Options.Timeout+leaseSpare)
	if err != nil || !taken {
		return false, err
	}
	begun := time.Now() // on the clock that nobody sets
	due, err = s.Ledger.DueOutbox(ctx, t.Name, s.Now(), batch)
	if err != nil || len(due) == 0 || time.Since(begun) > leaseSpare/2 {
		return false, err
	}
	faults := make([]*alert.Fault, len(due))
	var sending gosync.WaitGroup
	for i := range due {
		sending.Go(func() { faults[i] = s.send(ctx, t, client, due[i]) })
	}
	sending.Wait()
	return s.settle(ctx, t, due, faults)
}

// settle stores what became of a batch, also while the service stops: what arrived must not be sent
// again.
func (s *Sender) settle(ctx context.Context, t Target, due []trade.OutEvent, faults []*alert.Fault) (bool, error) {
	now, arrived, answered := s.Now(), false, false
	var settled []trade.OutEvent
	for i, e := range due {
		fault := faults[i]
		if fault != nil && ctx.Err() != nil {
			continue // the service is stopping: it proves nothing
		}
		result := "done"
		e.Tries++
		if fault == nil {
			e.Outcome, e.DoneAt, e.Fault, e.NextAt = trade.EventDelivered, now, "", now
			arrived, answered = true, true
		} else {
			e.NextAt, e.Fault, result = now.Add(alert.PauseAfter(e.Tries)), fault.Code, fault.Code
			answered = answered || !fault.All
			s.Log.Warn("event not delivered", zap.String("target", t.Name), zap.Int64("event", e.Seq),
				zap.String("fault", fault.Code), zap.Int("try", e.Tries), zap.Time("next_at", e.NextAt))
		}
		s.Count(t.Name, result)
		settled = append(settled, e)
	}
	if len(settled) == 0 {
		return false, nil
	}
	return arrived, s.Ledger.SettleEvents(context.WithoutCancel(ctx), t.Name, settled, answered,
		func(failures int) time.Time { return now.Add(alert.PauseAfter(failures)) })
}

// send sends one event once.
func (s *Sender) send(ctx context.Context, t Target, client *http.Client, e trade.OutEvent) *alert.Fault {
	body, err := bodyOf(s.Ledger.LedgerID(), e)
	if err != nil {
		return &alert.Fault{Code: "form"}
	}
	return post(ctx, t, client, body, s.Now())
}

// Try sends an event of the type Test to a program. It returns nil if that took it.
func Try(ctx context.Context, t Target, ledger string, now time.Time) *alert.Fault {
	body, err := bodyOf(ledger, trade.OutEvent{Kind: Test, State: "test", At: now})
	if err != nil {
		return &alert.Fault{Code: "form"}
	}
	return post(ctx, t, t.Options.Client(), body, now)
}

// post sends a body, signed. Any status of success means that it was taken.
func post(ctx context.Context, t Target, client *http.Client, body []byte, now time.Time) *alert.Fault {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.Options.URL(), bytes.NewReader(body))
	if err != nil {
		return &alert.Fault{Code: "address", All: true}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(Header, Sign(t.Secret(), now, body))
	status, _, err := alert.Exchange(ctx, client, req)
	switch {
	case err != nil:
		return alert.AsFault(err)
	case status < 200 || status > 299:
		fault := alert.HTTPFault(status)
		fault.All = !refusesEvent(status)
		return fault
	}
	return nil
}

// refusesEvent reports whether a status may be about the one event that was sent. The others are about
// the program or the way to it: no event would be taken now.
func refusesEvent(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed,
		http.StatusProxyAuthRequired, http.StatusRequestTimeout, http.StatusGone, http.StatusTooManyRequests:
		return false
	}
	return status >= 400 && status <= 499
}
