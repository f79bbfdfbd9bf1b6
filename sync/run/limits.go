// The settings of the engine, and the times that follow from them (I13, I14).

package run

import (
	"cmp"
	"time"
)

// Limits are the engine's own settings (`api:`).
type Limits struct {
	MaxInFlight      int           // POSTs in flight at once
	RateLimit        float64       //nolint:forbidigo // requests per second, no amount; 0 = none
	Strict           bool          // `doubt: strict`: trusts no 502 and no empty 401 or 415
	StopAfterUnknown int           // unknown outcomes in a row that stop the job; 0 = never
	Quarantine       time.Duration // I14, told to people with each doubt
	Timeout          time.Duration // of one request
	// KeepAnswers is how long answers wait in memory for a ledger that takes none; 0 = half a
	// minute.
	KeepAnswers time.Duration
}

// leaseLasts is how long a process that was lost may still hold a job.
const leaseLasts = 30 * time.Second

// AnswersKept is the longest that the process waits for its ledger to take what it has in memory.
// What it does not take by then is in doubt at the next start.
func (l Limits) AnswersKept() time.Duration { return cmp.Or(l.KeepAnswers, 32*time.Second) }

// LeastQuarantine is how long nobody can order a second sending after an attempt became unknown:
// every time-out involved is over by then (I14).
func (l Limits) LeastQuarantine() time.Duration {
	return max(l.Quarantine, 2*l.Timeout+leaseLasts+10*time.Second)
}

// Brakes say what pauses a job before anything of it leaves, until a person has looked and released
// it (`brakes:`).
type Brakes struct {
	NewRows      int // so many times the usual number of new rows; 0 = never
	NewRowsLeast int // but never fewer than this
	// so many rows with the content of sent ones whose key is gone; 0 = never: each of them is held
	// all the same
	Retyped    int
	ChangedKey bool // a changed key, or changed tables, under which known rows look new
}

// DefaultBrakes are those of a configuration that says nothing.
func DefaultBrakes() Brakes {
	return Brakes{NewRows: 10, NewRowsLeast: 100, Retyped: 10, ChangedKey: true}
}

// BrakeSamples is how many keys a brake shows.
const BrakeSamples = 5
