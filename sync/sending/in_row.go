// What came one after the other: refusals, doubts, failures to connect.

package sending

import (
	"fmt"
	"time"

	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/trade"
)

// inRow counts what came one after the other, and stops or slows the job.
type inRow struct {
	unknowns, badForms, noIDs, unreached int
	// refusals of the request since the last acceptance, and the status of the last one
	strange, strangeStatus int
	throttled              map[int64]int // how often a row was answered with 429, in this run
	refusal                string        // what the platform said to the last rows
	refusals               int           // how often in a row
	doubts                 int           // of this run
	stalledAt              time.Time     // when a send window passed last
}

// spent reports whether a row was answered with 429 so often that only a later run tries it again.
func (n *inRow) spent(entryID int64) bool { return n.throttled[entryID] >= throttledMost }

// count keeps what came in a row. Send windows that passed together, as on a machine that was
// suspended, count once.
func (n *inRow) count(d outcome.Decision, l *result) {
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

// countRefusal counts rows that the platform refused for the same reason, one after the other. A
// record that it lacks is none: the rows that need it wait for one answer.
func (n *inRow) countRefusal(d outcome.Decision, l *result) {
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
