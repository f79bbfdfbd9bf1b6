package sync

import (
	"fmt"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// TwinHold is what `checks.twin` has beside warn and off: of two living rows with the same content
// only one goes before a person has said that they are two.
const TwinHold trade.Severity = "hold"

// TwinCheck says what happens to a row that another living row of the ERP equals. It is no part of
// the mapping: a change of it maps no row again.
type TwinCheck struct {
	Mode trade.Severity // hold, warn or off; "" = warn
	Days int            // rows that came further apart are two in any case; 0 = no limit
}

// within reports whether two rows came close enough to be one that was typed twice.
func (c TwinCheck) within(a, b trade.Entry) bool {
	apart := a.FirstSeenAt.Sub(b.FirstSeenAt).Abs()
	return c.Days == 0 || apart <= time.Duration(c.Days)*24*time.Hour
}

// checkTwins does to rows that are about to go what `checks.twin` says. The row that was read first
// goes, and later ones are held; so is every one beside a row that was sent. parked are rows that
// are ready and wait for another one.
func (r *jobRun) checkTwins(out *looked, parked []trade.Entry) {
	check := r.job.Spec.Twin
	ready := out.ready[:0]
	for _, entry := range out.ready {
		equal, near := twinsOf(entry, out.sent, parked, ready)
		declared := entry.Another == entry.PayloadHash // a person said that they are two
		switch {
		case check.Mode == trade.Off:
			entry.Flags = entry.Flags.With(trade.Twin, false)
		case equal != nil && check.Mode == TwinHold && !declared && check.within(entry, *equal):
			from := entry
			hold(&entry, trade.CauseTwin, twinText(*equal))
			entry.Flags, entry.UpdatedAt = entry.Flags.With(trade.Twin, true), r.Clock.Now()
			out.hold(from, entry)
			continue
		default:
			entry.Flags = entry.Flags.With(trade.NearTwin, near)
		}
		ready = append(ready, entry)
	}
	out.ready = ready
}

// twinsOf finds a living row that sends the very same, and tells whether one asks for the same
// business with another price or another optional field.
func twinsOf(e trade.Entry, sent []sentRow, ahead ...[]trade.Entry) (equal *trade.Entry, near bool) {
	see := func(other *trade.Entry) {
		switch {
		case other.ID == e.ID:
		case other.PayloadHash == e.PayloadHash:
			if equal == nil {
				equal = other
			}
		case sameContent(other.Content, e.Content):
			near = true
		}
	}
	for i := range sent {
		if sent[i].stands(e) {
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

// twinText says why a row is held that another one equals.
func twinText(other trade.Entry) string {
	id := ""
	if other.RemoteID != "" {
		id = " with the id " + other.RemoteID
	}
	return fmt.Sprintf("the row under key %s of job %s has the very same content and goes, or went%s; the platform deletes nothing. "+
		"Two documents: `safrasync retry`. One that was typed twice: `safrasync dismiss`", other.Key, other.Job, id)
}
