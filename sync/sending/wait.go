// What the loop waits for.

package sending

import (
	"context"
	"time"
)

// await waits for the next result, a stored group, the next token, the end of a rest, or the end of
// the run, so that a parked or resting queue does not spin.
func (s *Sender) await(ctx context.Context, more bool) {
	var wake <-chan time.Time
	if s.halt == nil && more {
		if d := s.pause(); d > 0 {
			if s.queue.quota > 0 { // the other jobs have their turn then
				d = min(d, max(s.queue.until-s.Run.Env.Clock.Boot(), 0))
			}
			timer := time.NewTimer(d)
			defer timer.Stop()
			wake = timer.C
		} else if len(s.flights) == 0 && s.commit.storing == nil {
			return
		}
	} else if len(s.flights) == 0 && s.commit.storing == nil {
		return
	}
	done := ctx.Done()
	if s.halt != nil {
		done = nil
	}
	select {
	case l := <-s.results:
		s.takeResult(l)
	case <-s.commit.stored: // step handles it
	case <-wake:
	case <-done:
	}
}

// pause returns how long nothing can be sent although something is due: because the API asked to
// wait, or until the next token of the rate limit.
func (s *Sender) pause() time.Duration {
	if d := s.pace.resting(s.Run.Env.Clock.Now()); d > 0 {
		return d
	}
	if len(s.flights) >= s.window() || len(s.queue.ready) == 0 {
		return 0
	}
	r := s.traffic.Limiter.Reserve()
	defer r.Cancel()
	return r.Delay()
}
