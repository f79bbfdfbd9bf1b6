// Consecutive results: refusals, doubts, failures to connect.

package sending

import (
	"fmt"
	"time"

	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/trade"
)

// streaks counts consecutive results, on which the job is stopped or slowed.
type streaks struct {
	unknowns, badForms, noIDs, unreached int
	// refusals of the request since the last acceptance, and the status of the last one
	strange, strangeStatus int
	throttled              map[int64]int // how often each row was answered with 429 in this run
	refusal                string        // reason of the latest refusals
	refusals               int           // consecutive refusals with this reason
	doubts                 int           // of this run
	stalledAt              time.Time     // when the last send window passed
}

// throttle counts a 429 for a row, and reports whether there were so many that only a later run tries
// it again.
func (n *streaks) throttle(entryID int64) bool {
	if n.throttled == nil {
		n.throttled = map[int64]int{}
	}
	n.throttled[entryID]++
	return n.throttled[entryID] >= throttledMost
}

// count updates the counters. Send windows that passed together, as on a machine that was
// suspended, count once.
func (n *streaks) count(d outcome.Decision, f *flight) {
	stalled := d.Stalled && f.attempt.StartedAt.After(n.stalledAt)
	if stalled {
		n.stalledAt = f.at
	}
	more := func(count *int, yes bool) {
		*count++
		if !yes {
			*count = 0
		}
	}
	more(&n.unknowns, d.Outcome == trade.OutcomeUnknown)
	if d.Outcome == trade.OutcomeUnknown {
		n.doubts++
	}
	// rows that the platform refused for the same reason, but not for a missing record: the rows that need
	// it wait for one answer
	switch refusal := fmt.Sprint(f.answer.Status, d.Cause, f.answer.Messages, f.answer.Text); {
	case d.Outcome == trade.OutcomeNotSent, d.Outcome == trade.OutcomeUnknown:
	case d.State != trade.Rejected || len(d.Missing) > 0:
		n.refusal, n.refusals = "", 0
	case refusal != n.refusal:
		n.refusal, n.refusals = refusal, 1
	default:
		n.refusals++
	}
	more(&n.badForms, d.BadForm)
	switch {
	case d.Strange:
		n.strange, n.strangeStatus = n.strange+1, f.answer.Status
	case d.State == trade.Accepted:
		n.strange = 0
	}
	more(&n.noIDs, d.NoID || d.Another)
	if stalled || !d.Stalled {
		more(&n.unreached, d.Retry == outcome.RetrySoon || stalled)
	}
}
