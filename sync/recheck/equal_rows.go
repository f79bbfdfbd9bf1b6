// Rows with equal content among those that are about to be sent.

package recheck

import (
	"fmt"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// CheckEqualRows applies `checks.twin` to rows that are about to be sent. Of equal rows the one
// that was read first goes, and later ones are held; so is every row that equals one already sent.
// parked are rows that are ready but wait for another one.
func (r *Checker) CheckEqualRows(out *Rechecked, parked []trade.Entry) {
	check := r.run.Job.Spec.Twin
	ready := out.Ready[:0]
	for _, entry := range out.Ready {
		equal, near := equalRows(entry, out.Sent, parked, ready)
		// a person declared that they are two documents
		declared := entry.Another == entry.PayloadHash
		switch {
		case check.Mode == trade.Off:
			entry.Flags = entry.Flags.With(trade.Twin, false)
		case equal != nil && check.Mode == mapping.TwinHold && !declared && check.Within(entry, *equal):
			from := entry
			run.Hold(&entry, trade.CauseTwin, equalRowText(*equal))
			entry.Flags, entry.UpdatedAt = entry.Flags.With(trade.Twin, true), r.run.Env.Clock.Now()
			out.hold(from, entry)
			continue
		default:
			entry.Flags = entry.Flags.With(trade.NearTwin, near)
		}
		ready = append(ready, entry)
	}
	out.Ready = ready
}

// equalRows returns a living row that sends exactly the same, or nil, and reports whether one is
// for the same business with another price or other optional fields.
func equalRows(e trade.Entry, sent []SentRow, ahead ...[]trade.Entry) (equal *trade.Entry, near bool) {
	see := func(other *trade.Entry) {
		switch {
		case other.ID == e.ID:
		case other.PayloadHash == e.PayloadHash:
			if equal == nil {
				equal = other
			}
		case run.SameContent(other.Content, e.Content):
			near = true
		}
	}
	for i := range sent {
		if sent[i].Stands(e) {
			see(&sent[i].Entry)
		}
	}
	for _, list := range ahead {
		for i := range list {
			see(&list[i])
		}
	}
	return equal, near
}

// equalRowText returns the reason why a row is held that equals another one.
func equalRowText(other trade.Entry) string {
	id := ""
	if other.RemoteID != "" {
		id = " with the id " + other.RemoteID
	}
	return fmt.Sprintf(
		"the row under key %s of job %s has the very same content and goes, or went%s; the platform deletes nothing. "+
			"Two documents: `safrasync retry`. One that was typed twice: `safrasync dismiss`", other.Key, other.Job, id)
}
