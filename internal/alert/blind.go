package alert

import (
	"context"
	"time"

	"go.uber.org/zap"
)

// ledgerFailure is the state of the one alert that the ledger cannot store: that the ledger cannot be
// read or written. It is kept in memory, so a restart may repeat the alert.
type ledgerFailure struct {
	since time.Time // of the first failed evaluation; zero: the ledger works
	tries int
	next  time.Time       // of the next attempt to send
	told  map[string]bool // addresses that got the alert
	// again holds the addresses that still have to get the message that it is over.
	again map[string]bool
	began time.Time // start of the failure that is over
}

// JudgeLedger handles the result of a tick, or of an attempt to open the ledger, for which the Service
// needs none. People are told once if the ledger cannot be used for a while, and when that is over.
func (s *Service) JudgeLedger(ctx context.Context, err error) {
	now, b := s.now(), &s.blind
	if err != nil && ctx.Err() == nil {
		if b.since.IsZero() {
			*b = ledgerFailure{since: now, told: map[string]bool{}}
		}
		if now.Sub(b.since) < ledgerLasts || now.Before(b.next) {
			return
		}
		b.tries++
		b.next = now.Add(pauseAfter(b.tries))
		s.sendDirectly(ctx, notice{Topic: NoLedger, Since: b.since}, now, b.told, true)
		return
	}
	if err == nil && !b.since.IsZero() {
		*b = ledgerFailure{again: b.told, began: b.since}
	}
	if len(b.again) > 0 && !now.Before(b.next) {
		b.tries++
		b.next = now.Add(pauseAfter(b.tries))
		s.sendDirectly(ctx, notice{Topic: NoLedger, Since: b.began, Gone: now}, now, b.again, false)
		if b.tries >= 2*len(pauses) {
			b.again = nil
		}
	}
}

// sendDirectly sends a notice to the addresses whose mark is not yet mark, and sets the mark of each
// that it reached.
func (s *Service) sendDirectly(ctx context.Context, n notice, now time.Time, marks map[string]bool, mark bool) {
	m := s.voice().message(n)
	m.At, m.ID, m.Alert = now, "ledger-"+now.Format("20060102T150405"), "ledger-"+n.Since.Format("20060102T150405")
	m.Kind = kindOver
	if mark {
		m.Kind = kindRaised
	}
	for _, c := range s.Channels {
		for _, target := range c.Targets(kindRaised) {
			if marks[target] == mark {
				continue
			}
			fault := asFault(c.Send(ctx, target, m))
			if fault == nil {
				if mark {
					marks[target] = true
				} else {
					delete(marks, target)
				}
				continue
			}
			s.Log.Error("message not delivered, and the ledger cannot be used", zap.String("fault", fault.Code),
				zap.Stringer("reason", fault.Why))
			if fault.All {
				break
			}
		}
	}
}
