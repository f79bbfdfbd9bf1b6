// How many requests may leave now, and when.

package sending

import (
	"time"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/trade"
)

// pace is how many requests may leave now, and when.
type pace struct {
	// POSTs that may be in flight now: max_in_flight, or less after doubts and 429s
	slots     int
	restUntil time.Time     // nothing is sent before
	rested    time.Duration // total wait that the API asked for since the last acceptance
}

// adjustPace slows down after doubts and 429s, and speeds up again with each acceptance or
// rejection. The rate of requests (apiclient/pace.go) halves by itself.
func (s *Sender) adjustPace(d outcome.Decision, at time.Time) {
	if d.Outcome != trade.OutcomeNotSent {
		s.traffic.Careful = d.Outcome == trade.OutcomeUnknown
	}
	if d.Outcome != trade.OutcomeUnknown && d.Retry != outcome.RetrySoon && !d.Stalled {
		s.traffic.Probing = false
	}
	rest := d.Wait
	switch {
	case d.Outcome == trade.OutcomeUnknown:
		s.pace.slots = 1 // one at a time, until the API gives a definite answer again
		if d.Slow {
			rest = backoffFirst << min(s.streaks.unknowns, 6)
		}
	case d.Wait > 0:
		s.pace.slots = max(1, s.pace.slots/2)
	case d.State == trade.Accepted || d.State == trade.Rejected:
		s.pace.slots = min(s.Limits.MaxInFlight, s.pace.slots+1)
	}
	if until := at.Add(rest); rest > 0 && until.After(s.pace.restUntil) {
		if d.Wait > 0 { // simultaneous answers ask for one rest
			s.pace.rested += min(d.Wait, until.Sub(s.pace.restUntil))
		}
		s.pace.restUntil = until
	}
	if d.State == trade.Accepted {
		s.pace.rested = 0
	}
}

// resting returns how long the API asked to wait from now on. It never asks for more than an hour:
// a longer wait means that the clock was set back, and ends.
func (p *pace) resting(now time.Time) time.Duration {
	d := p.restUntil.Sub(now)
	if d > LongestAsked {
		p.restUntil = mapping.NoTime
		return 0
	}
	return d
}
