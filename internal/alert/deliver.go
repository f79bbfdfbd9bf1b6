package alert

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/trade"
)

// Channel is a means of delivery, such as e-mail. Its methods are safe for concurrent use.
type Channel interface {
	// Targets returns its addresses for a kind of message; each begins with the channel's own name and a
	// colon.
	Targets(kind string) []string
	// Send delivers a message to one of its addresses and returns within its own time limit. Its
	// errors are of type *Fault.
	Send(ctx context.Context, target string, m Message) error
}

// Fault is why a message was not delivered, in words of our own, because the other side's text may
// repeat an address or a credential.
type Fault struct {
	Code string         // for logs and metrics: smtp_550, http_404, timeout, …
	Why  trade.Sentence // what happened, and what to check
	All  bool           // the channel itself does not work, so its other addresses need not be tried now
}

// Sentence returns the code, with what happened and what to check.
func (f *Fault) Sentence() trade.Sentence {
	return trade.Say("delivery.fault", "code", f.Code, "why", f.Why)
}

// Error returns the same in English.
func (f *Fault) Error() string { return f.Sentence().String() }

const (
	// claimFor is the duration of a claim; it is longer than any channel takes for one message.
	claimFor = 5 * time.Minute
	// batch is how many messages are delivered before alerts are evaluated again.
	batch = 50
	// longOverdue is the age from which an undelivered message is logged as an error instead of a
	// warning.
	longOverdue = time.Hour
)

// pauses grow with the number of attempts; the last one repeats.
var pauses = []time.Duration{
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute,
	30 * time.Minute, time.Hour,
}

// pauseAfter returns the time until the next try, after a number of tries.
func pauseAfter(attempts int) time.Duration { return pauses[min(max(attempts-1, 0), len(pauses)-1)] }

// The outcomes of a message; they are stored.
const (
	delivered  = "delivered"
	givenUp    = "given_up"
	faultNoWay = "not_configured"
)

func (s *Service) deliver(ctx context.Context, m trade.AlertMessage, down map[Channel]*Fault) error {
	claimed, err := s.Ledger.ClaimMessage(ctx, m, s.now().Add(claimFor))
	if err != nil || !claimed {
		return err
	}
	m.Attempts++
	fault := s.try(ctx, m, down)
	// the service is stopping, so the fault proves nothing about the channel
	if fault != nil && ctx.Err() != nil && fault.Code == codeCancelled {
		m.NextAt = s.now()
		return s.settle(ctx, m)
	}
	now := s.now()
	switch {
	case fault == nil:
		m.Outcome, m.DoneAt, m.Fault = delivered, now, ""
		s.Log.Info("message delivered", zap.String("kind", m.Kind), zap.String("message", m.ID),
			zap.Int("attempt", m.Attempts))
	case fault.Code == faultNoWay || now.Sub(m.CreatedAt) >= GiveUp:
		m.Outcome, m.DoneAt, m.Fault = givenUp, now, fault.Code
		s.Log.Error("message given up", zap.String("kind", m.Kind), zap.String("message", m.ID),
			zap.String("fault", fault.Code), zap.Stringer("reason", fault.Why))
		if s.channelOf(m) == nil && now.Sub(m.CreatedAt) < GiveUp {
			var n notice
			if err := json.Unmarshal(m.Content, &n); err != nil {
				return s.settle(ctx, m)
			}
			return s.Ledger.ReaddressMessage(context.WithoutCancel(ctx), m, s.targets(m.Kind))
		}
	default:
		m.NextAt, m.Fault = now.Add(pauseAfter(m.Attempts)), fault.Code
		fields := []zap.Field{
			zap.String("kind", m.Kind), zap.String("message", m.ID), zap.String("fault", fault.Code),
			zap.Stringer("reason", fault.Why),
			zap.Int("attempt", m.Attempts), zap.Time("next_at", m.NextAt),
		}
		if now.Sub(m.CreatedAt) >= longOverdue {
			s.Log.Error("message overdue: nobody has been told", fields...)
		} else {
			s.Log.Warn("message not delivered", fields...)
		}
	}
	return s.settle(ctx, m)
}

// settle stores the outcome even while the service is stopping, because a delivered message must
// not be sent again.
func (s *Service) settle(ctx context.Context, m trade.AlertMessage) error {
	return s.Ledger.SettleMessage(context.WithoutCancel(ctx), m)
}

// try sends a message once. A channel that failed in this round is not tried again in the round.
func (s *Service) try(ctx context.Context, m trade.AlertMessage, down map[Channel]*Fault) *Fault {
	channel := s.channelOf(m)
	if channel == nil {
		return &Fault{Code: faultNoWay, Why: trade.Say("delivery.not_configured")}
	}
	if fault := down[channel]; fault != nil {
		return fault
	}
	var n notice
	if err := json.Unmarshal(m.Content, &n); err != nil {
		return &Fault{Code: faultNoWay, Why: trade.Say("delivery.damaged")}
	}
	content := s.voice().message(n)
	content.ID, content.Alert, content.Kind, content.At = m.ID, m.AlertID, m.Kind, m.CreatedAt
	fault := asFault(channel.Send(ctx, m.Target, content))
	if fault != nil && fault.All {
		down[channel] = fault
	}
	return fault
}

// asFault returns why a message was not delivered; nil for a nil error.
func asFault(err error) *Fault {
	var fault *Fault
	switch {
	case err == nil:
		return nil
	case errors.As(err, &fault):
		return fault
	}
	return &Fault{Code: "unknown", Why: trade.Say("delivery.unknown")}
}

func (s *Service) channelOf(m trade.AlertMessage) Channel {
	for _, c := range s.Channels {
		if slices.Contains(AllTargets(c), m.Target) {
			return c
		}
	}
	return nil
}

// AllTargets returns all addresses of a channel: an alert goes to each.
func AllTargets(c Channel) []string { return c.Targets(kindRaised) }
