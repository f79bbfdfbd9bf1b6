package trade

import "time"

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
