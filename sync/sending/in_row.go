// Consecutive results: refusals, doubts, failures to connect.

package sending

import (
	"time"
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
