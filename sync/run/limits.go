// The settings of the engine, and the times that follow from them (I13, I14).

package run

import (
	"cmp"
	"crypto/sha256"
	"time"
)

// Limits are the engine's settings of `api:`.
type Limits struct {
	MaxInFlight      int           // POSTs in flight at once
	RateLimit        float64       //nolint:forbidigo // requests per second, no amount; 0 = none
	Strict           bool          // `doubt: strict`: trusts no 502 and no empty 401 or 415
	StopAfterUnknown int           // consecutive unknown outcomes that stop the job; 0 = never
	Quarantine       time.Duration // configured quarantine (I14), shown to people with each doubt
	Timeout          time.Duration // of one request
	// how long answers wait in memory for a ledger that cannot store them; 0 = 32 s
	KeepAnswers time.Duration
	Ends        bool // the process ends with its pass
}

// leaseLasts is how long a dead process may still hold a job's lease.
const leaseLasts = 30 * time.Second

// AnswerTimeout returns how long the process waits at most for the ledger to store the answers in
// memory. An answer that it cannot store by then leaves its row in doubt at the next start.
func (l Limits) AnswerTimeout() time.Duration { return cmp.Or(l.KeepAnswers, 32*time.Second) }

// LeastQuarantine returns how long nobody can order a second sending after an attempt became
// unknown: by then every time-out involved is over (I14).
func (l Limits) LeastQuarantine() time.Duration {
	return max(l.Quarantine, 2*l.Timeout+leaseLasts+10*time.Second)
}

// Brakes are the settings of `brakes:`: what pauses a job, before it sends anything, until a person
// has checked and released it.
type Brakes struct {
	NewRows      int // this many times the usual number of new rows; 0 = never
	NewRowsLeast int // but not below this number of new rows
	// this many rows with the content of sent rows whose key is gone; 0 = never. Each of them is
	// held in any case.
	Retyped    int
	ChangedKey bool // a changed key, or changed tables, that make known rows look new
	// nobody who sends gave a sign of life for longer: the ledger may be an old copy; 0 = never
	Absence time.Duration
}

// Absence is how long those who send may be silent. It is no setting: whoever restores an image
// restores its settings too.
const Absence = 2 * time.Hour

// DefaultBrakes returns the brakes of a configuration without `brakes:`.
func DefaultBrakes() Brakes {
	return Brakes{NewRows: 10, NewRowsLeast: 100, Retyped: 10, ChangedKey: true}
}

// BrakeSamples is how many sample keys a brake shows.
const BrakeSamples = 5

// KeyHash identifies a key in a reading: 96 bits do not collide by chance among the rows of an ERP.
type KeyHash [12]byte

// HashKey returns the hash of a key, or of a text that identifies something else.
func HashKey[T ~string | ~[]byte](key T) KeyHash {
	sum := sha256.Sum256([]byte(key))
	return KeyHash(sum[:12])
}
