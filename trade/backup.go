package trade

import "time"

// LastBackup is when the newest copy of the ledger was made by `safrasync backup`.
type LastBackup struct {
	Ours  bool      // copies are made by us: the ledger is a SQLite file
	At    time.Time // zero: none was made
	Begun time.Time // when the ledger began
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
