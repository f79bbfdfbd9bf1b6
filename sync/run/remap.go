// What an entry becomes that was mapped again.

package run

import "github.com/safrasync/safrasync/trade"

// ApplyRemap decides what a re-mapped entry becomes. fresh is old with the new mapping filled in.
// The result is what is to be stored.
func ApplyRemap(old, fresh trade.Entry) trade.Entry {
	samePayload := fresh.PayloadHash != "" && fresh.PayloadHash == old.PayloadHash
	switch {
	case old.Weak():
		// refused in no form of the API: an earlier step may have happened, so a change of the row
		// alone moves nothing
		return KeepVerdict(old, fresh)
	case samePayload && (old.State == trade.Rejected || old.State == trade.Pending):
		return KeepVerdict(old, fresh)
	case old.State == trade.Held && old.Cause == trade.CauseRetyped && SameContent(fresh.Content, old.Content):
		return KeepVerdict(old, fresh) // with another price it is the same business
	case samePayload && old.State == trade.Waiting && WaitsForPlatform(old):
		return KeepVerdict(old, fresh)
	}
	return fresh
}

// KeepVerdict keeps where the entry stands and why, with the new content and marks.
func KeepVerdict(old, fresh trade.Entry) trade.Entry {
	fresh.State, fresh.Cause, fresh.Error = old.State, old.Cause, old.Error
	fresh.WaitingFor, fresh.NextAttemptAt = old.WaitingFor, old.NextAttemptAt
	return fresh
}

// WaitsForPlatform reports whether an entry waits for a record of the platform.
func WaitsForPlatform(e trade.Entry) bool {
	return len(e.WaitingFor) > 0 && e.WaitingFor[0].Platform != ""
}

// SameContent reports whether two content numbers are those of the same business; 0 is of none.
func SameContent(a, b int64) bool { return a != 0 && a == b }
