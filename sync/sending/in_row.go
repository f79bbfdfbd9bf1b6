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

// spent reports whether a row was answered with 429 so often that only a later run tries it again.
func (n *streaks) spent(entryID int64) bool { return n.throttled[entryID] >= throttledMost }

// count updates the counters. Send windows that passed together, as on a machine that was
// suspended, count once.
func (n *streaks) count(d outcome.Decision, l *result) {
	stalled := d.Stalled && l.attempt.StartedAt.After(n.stalledAt)
	if stalled {
		n.stalledAt = l.at
	}
	more := func(count *int, yes bool) {
		if *count++; !yes {
			*count = 0
		}
	}
	more(&n.unknowns, d.Outcome == trade.OutcomeUnknown)
	if d.Outcome == trade.OutcomeUnknown {
		n.doubts++
	}
	n.countRefusal(d, l)
	more(&n.badForms, d.BadForm)
	switch {
	case d.Strange:
		n.strange, n.strangeStatus = n.strange+1, l.answer.Status
	case d.State == trade.Accepted:
		n.strange = 0
	}
	more(&n.noIDs, d.NoID)
	if stalled || !d.Stalled {
		more(&n.unreached, d.Retry == outcome.RetrySoon || stalled)
	}
}

// countRefusal counts consecutive rows that the platform refused for the same reason. A refusal for
// a missing record does not count: the rows that need the record wait for one answer.
func (n *streaks) countRefusal(d outcome.Decision, l *result) {
	switch refusal := fmt.Sprint(l.answer.Status, d.Cause, l.answer.Messages, l.answer.Text); {
	case d.Outcome == trade.OutcomeNotSent, d.Outcome == trade.OutcomeUnknown:
	case d.State != trade.Rejected || len(d.Missing) > 0:
		n.refusal, n.refusals = "", 0
	case refusal != n.refusal:
		n.refusal, n.refusals = refusal, 1
	default:
		n.refusals++
	}
}
