// How a new mapping of an entry changes its state.

package run

import "github.com/safrasync/safrasync/trade"

// ApplyRemap returns the entry to be stored after old was mapped again. fresh is old with the new
// mapping filled in.
func ApplyRemap(old, fresh trade.Entry) trade.Entry {
	samePayload := fresh.PayloadHash != "" && fresh.PayloadHash == old.PayloadHash
	switch {
	case old.Weak():
		// the refusal was in no form of the API: an earlier step may have happened, so a change of
		// the row alone does not make it go
		return KeepVerdict(old, fresh)
	case samePayload && (old.State == trade.Rejected || old.State == trade.Pending):
		return KeepVerdict(old, fresh)
	case old.State == trade.Held && (old.Cause == trade.CauseRetyped || old.Cause == trade.CauseTwin):
		return KeepVerdict(old, fresh) // an edit alone does not make it another document
	case samePayload && old.State == trade.Waiting && WaitsForPlatform(old):
		return KeepVerdict(old, fresh)
	}
	return fresh
}

// KeepVerdict returns fresh with the state of old and its reasons.
func KeepVerdict(old, fresh trade.Entry) trade.Entry {
	fresh.State, fresh.Cause, fresh.Error = old.State, old.Cause, old.Error
	fresh.WaitingFor, fresh.NextAttemptAt = old.WaitingFor, old.NextAttemptAt
	return fresh
}

// WaitsForPlatform reports whether an entry waits for a record of the platform.
func WaitsForPlatform(e trade.Entry) bool {
	return len(e.WaitingFor) > 0 && e.WaitingFor[0].Platform != ""
}

// SameContent reports whether two content numbers are equal; 0 means no content and equals nothing.
func SameContent(a, b int64) bool { return a != 0 && a == b }
