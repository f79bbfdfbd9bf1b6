// What all jobs of a pass share.

package sending

import "golang.org/x/time/rate"

// Traffic is what all jobs of a pass share: the rate limiter, what is known of the platform's
// records, and whether its answers can be trusted.
type Traffic struct {
	Limiter *rate.Limiter
	blocks  *missingRecords
	// the last outcome was unknown, or a circuit is tried: one request at a time, until the API
	// gives a definite answer
	Careful bool
	Probing bool // the first requests after a circuit was open: one failure opens it again
}
