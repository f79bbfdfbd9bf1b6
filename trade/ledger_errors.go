package trade

import (
	"errors"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
)

// ErrNotFound means that the ledger has no such row.
var ErrNotFound = errors.New("the ledger has no such row")

// ErrLeaseLost means that another process has taken over the job.
var ErrLeaseLost = errors.New("the job's lease was lost to another process")

// ErrUncertain means that it is unknown whether a commit of the ledger took effect, even after
// reading back.
var ErrUncertain = errors.New("the ledger did not say whether it stored the last commit")

// JournalledError is the error of a ledger whose disk is full, where the journal has the answers that were to
// be stored: they are taken from there once there is room.
type JournalledError struct{ error }

// Journalled returns the error of a ledger as a JournalledError.
func Journalled(err error) error { return JournalledError{err} }

// Unwrap returns the error of the ledger.
func (e JournalledError) Unwrap() error { return e.error }

// LeasedError is the error of a job that another process runs.
type LeasedError struct {
	Job   string
	Owner Owner
	Until time.Time // on the ledger's clock
}

// Error names the holder, so that IT can find it.
func (e *LeasedError) Error() string { return e.Phrase().Error() }

// Phrase returns the same as a sentence.
func (e *LeasedError) Phrase() *phrase.Text {
	return phrase.New("job %s is run by another process (pid %d on %s, lease until %s): wait for it, or stop it",
		e.Job, e.Owner.PID, e.Owner.Host, e.Until.Format(time.RFC3339))
}

// ErrOtherServer means that the ledger is on another database server, or on a promoted replica,
// which nobody has confirmed.
var ErrOtherServer = errors.New("the ledger is on another server")

// ErrWentBack means that the ledger has less than a host has confirmed of it: an older state, or a
// server that was given up, is in its place.
var ErrWentBack = errors.New("the ledger went back to an earlier state")

// ErrUnwitnessed means that the ledger's witness cannot be read, so that nobody can tell whether the
// ledger is an old copy.
var ErrUnwitnessed = errors.New("the witness of the ledger cannot be read")

// OtherPlatformError means that a ledger has sent to another base address than the configured one.
type OtherPlatformError struct {
	Ledger   string // where it has sent
	Now      string // where it would send now
	Accepted int    // rows that the platform at Ledger has accepted
	Doubts   int    // rows in doubt there
}

// Error returns what it means, and the two ways out.
func (e *OtherPlatformError) Error() string { return e.Sentence().String() }

// Sentence returns the same as a sentence.
func (e *OtherPlatformError) Sentence() Sentence {
	return Say("stop.platform.other", "ledger", e.Ledger, "now", e.Now, "accepted", e.Accepted, "doubts", e.Doubts)
}

// Witness is how the witness of a ledger fares, which shows that the machine was put back from an
// image.
type Witness struct {
	Place string    // for people, without secrets; "" if there is none
	At    time.Time // when this host's line was written last; zero: never
	Late  time.Time // from when on it lacks what the journal has; zero: it does not
	Slow  bool      // requests do not wait for it any more: its writes take long
	Fault error     // why it lacks that, if it is known
}

// LateFor returns for how long the witness has not had what the journal has.
func (w Witness) LateFor(now time.Time) time.Duration {
	if w.Late.IsZero() {
		return 0
	}
	return max(0, now.Sub(w.Late))
}

// LastBackup is when the newest copy of the ledger was made by `safrasync backup`.
type LastBackup struct {
	Ours  bool      // copies are made by us: the ledger is a SQLite file
	At    time.Time // zero: none was made
	Begun time.Time // when the ledger began
	// the folder of dated copies, if each such folder is on the disk of the ledger
	Beside string
}

// Age returns for how long there was no copy: since the last one or, if there is none, since the
// ledger began. It is 0 if the copies are not ours.
func (b LastBackup) Age(now time.Time) time.Duration {
	switch {
	case !b.Ours:
		return 0
	case b.At.IsZero():
		return now.Sub(b.Begun)
	}
	return now.Sub(b.At)
}
