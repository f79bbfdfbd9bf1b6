// How many requests may leave now, and when.

package sending

import (
	"time"

	"github.com/safrasync/safrasync/apiclient"
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

// Traffic is what all jobs of a pass share: the rate limit, what is known of the platform's
// records, and whether its answers can be trusted.
type Traffic struct {
	Pace   *apiclient.Pace
	blocks *missingRecords
	// the last outcome was unknown, or a circuit is tried: one request at a time, until the API
	// gives a definite answer
	Careful bool
	Probing bool // the first requests after a circuit was open: one failure opens it again
}

// RowLimit counts the rows that a run has sent, and decides which rows it may send. A row whose
// request was refused only for the moment, as with 429, is sent again and counts once.
type RowLimit struct {
	keys  map[string]bool // the only ones that may be sent; nil: any
	most  int             // most rows; 0: no limit
	Rows  int             // rows that were sent
	again map[int64]bool  // entries that were sent and became pending again
}

// NewRowLimit returns a limit: keys are the only ones that may be sent, nil means any; most is how
// many rows may be, 0 means no limit.
func NewRowLimit(keys []string, most int) *RowLimit {
	n := &RowLimit{most: most, again: map[int64]bool{}}
	if keys != nil {
		n.keys = map[string]bool{}
		for _, key := range keys {
			n.keys[key] = true
		}
	}
	return n
}

// reached reports whether no row may be sent but those that were and became pending again.
func (n *RowLimit) reached() bool { return n.most > 0 && n.Rows >= n.most }

// allows reports whether a row may be sent in addition to chosen ones, which are not counted yet.
func (n *RowLimit) allows(e trade.Entry, chosen []*flight) bool {
	if n.most == 0 || n.again[e.ID] {
		return true
	}
	fresh := 0
	for _, f := range chosen {
		if !n.again[f.Entry.ID] {
			fresh++
		}
	}
	return n.Rows+fresh < n.most
}
