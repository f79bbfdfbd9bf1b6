package sync

import (
	"context"
	"time"
)

// await waits for the next landing, the next token, the end of a rest, or the end of the run; a parked or resting queue waits here, not in a loop.
func (s *submission) await(ctx context.Context, more bool) {
	var wake <-chan time.Time
	if s.halt == nil && more {
		if d := s.pause(); d > 0 {
			if s.quota > 0 { // the others have their turn meanwhile
				d = min(d, max(s.until-s.Clock.Boot(), 0))
			}
			timer := time.NewTimer(d)
			defer timer.Stop()
			wake = timer.C
		} else if len(s.flights) == 0 && s.storing == nil {
			return
		}
	} else if len(s.flights) == 0 && s.storing == nil {
		return
	}
	done := ctx.Done()
	if s.halt != nil {
		done = nil
	}
	select {
	case l := <-s.landed:
		s.take(l)
	case <-s.stored: // step concludes it
	case <-wake:
	case <-done:
	}
}

// resting is how long the API asked to wait from now on. It never asks for more than an hour: then the clock was set back meanwhile.
func (s *submission) resting() time.Duration {
	d := s.restUntil.Sub(s.Clock.Now())
	if d > longestAsked {
		s.restUntil = noTime
		return 0
	}
	return d
}

// pause is how long nothing can leave although something is due: a rest that the API asked for, or the next token of the rate limit.
func (s *submission) pause() time.Duration {
	if d := s.resting(); d > 0 {
		return d
	}
	if len(s.flights) >= s.window() || len(s.queue) == 0 {
		return 0
	}
	r := s.limiter.Reserve()
	defer r.Cancel()
	return r.Delay()
}
