// What all jobs of a pass share.

package sending

import "github.com/safrasync/safrasync/apiclient"

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
