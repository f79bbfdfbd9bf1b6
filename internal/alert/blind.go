package alert

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/trade"
)

// blindness is a ledger that cannot be read or written. It is the one alert that the ledger cannot
// keep: it lives in memory, so that a restart may repeat it.
type blindness struct {
	since time.Time // of the first look that failed; zero: all is well
	tries int
	next  time.Time       // of the next try to tell
	told  map[string]bool // addresses that know
	// again are the addresses that are still to be told that it is over.
	again map[string]bool
	began time.Time // of the trouble that is over
}

// judgeLedger takes the outcome of a look. Telling goes around the ledger.
func (s *Service) judgeLedger(ctx context.Context, err error) {
	now, b := s.now(), &s.blind
	if err != nil && ctx.Err() == nil {
		if b.since.IsZero() {
			*b = blindness{since: now, told: map[string]bool{}}
		}
		if now.Sub(b.since) < ledgerLasts || now.Before(b.next) {
			return
		}
		b.tries++
		b.next = now.Add(pauseAfter(b.tries))
		c := condition{topic: NoLedger, since: b.since}
		s.tellDirectly(ctx, s.voice().raised(c), now, b.told, true)
		return
	}
	if err == nil && !b.since.IsZero() {
		*b = blindness{again: b.told, began: b.since}
	}
	if len(b.again) > 0 && !now.Before(b.next) {
		b.tries++
		b.next = now.Add(pauseAfter(b.tries))
		a := trade.Alert{Topic: string(NoLedger), Since: b.began, GoneAt: now}
		s.tellDirectly(ctx, s.voice().over(a, Detail{}), now, b.again, false)
		if b.tries >= 2*len(pauses) {
			b.again = nil
		}
	}
}

// tellDirectly tells those that are not marked, or those that are, and changes the mark of whom it
// reached.
func (s *Service) tellDirectly(ctx context.Context, m Message, now time.Time, marks map[string]bool, mark bool) {
	m.At, m.ID = now, "ledger-"+now.Format("20060102T150405")
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
				zap.String("reason", fault.Hint))
			if fault.All {
				break
			}
		}
	}
}
