// Rows with equal content among those that are about to be sent.

package recheck

import (
	"fmt"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Twin is a row that is about to be sent, or would be, beside an equal or a similar one.
type Twin struct {
	Row, Other trade.Entry
	Near       bool // they differ in their price or another optional field
	Held       bool // a person decides whether Row goes
}

// CheckEqualRows applies `checks.twin` and `checks.near_twin` to rows that are about to be sent. Of
// such rows the one that was read first goes, and later ones are held; so is every row that is like
// one already sent. parked are rows that are ready but wait for another one. It returns each row
// that is like another one.
func (r *Checker) CheckEqualRows(out *Rechecked, parked []trade.Entry) []Twin {
	check := r.run.Job.Spec.Twin
	var twins []Twin
	ready := out.Ready[:0]
	for _, entry := range out.Ready {
		equal, near := equalRows(check, entry, out.Sent, parked, ready)
		mode, other := check.Mode, equal
		if equal == nil || near != nil && !check.Within(entry, *equal) && check.Within(entry, *near) {
			mode, other = check.Near, near
		}
		if check.Mode == trade.Off {
			entry.Flags = entry.Flags.With(trade.Twin, false)
		}
		entry.Flags = entry.Flags.With(trade.NearTwin, near != nil && check.Near != trade.Off)
		if other == nil || mode == trade.Off {
			ready = append(ready, entry)
			continue
		}
		twin := Twin{Row: entry, Other: *other, Near: other == near}
		// unless a person declared that they are two documents
		twin.Held = mode == mapping.TwinHold && entry.Another != entry.PayloadHash && check.Within(entry, *other)
		twins = append(twins, twin)
		if !twin.Held {
			ready = append(ready, entry)
			continue
		}
		from := entry
		run.Hold(&entry, trade.CauseTwin, twin.text(), trade.CounterpartOf(*other))
		entry.Flags, entry.UpdatedAt = entry.Flags.With(trade.Twin, equal != nil), r.run.Env.Clock.Now()
		out.hold(from, entry)
	}
	out.Ready = ready
	return twins
}

// equalRows returns a living row that sends exactly the same, or nil, and one that is for the same
// business with another price or other optional fields, or nil; of several one that was first seen
// close enough to be a twin, if there is one.
func equalRows(check mapping.TwinCheck, e trade.Entry, sent []SentRow,
	ahead ...[]trade.Entry,
) (equal, near *trade.Entry) {
	better := func(than, other *trade.Entry) *trade.Entry {
		if than == nil || !check.Within(e, *than) && check.Within(e, *other) {
			return other
		}
		return than
	}
	see := func(other *trade.Entry) {
		switch {
		case other.ID == e.ID:
		case other.PayloadHash == e.PayloadHash:
			equal = better(equal, other)
		case run.SameContent(other.Content, e.Content):
			near = better(near, other)
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

// text returns the reason why a row is held that is like another one. It stays true if the row is
// edited afterwards.
func (t Twin) text() string {
	id, like := "", "had the very same content"
	if t.Other.RemoteID != "" {
		id = " with the id " + t.Other.RemoteID
	}
	if t.Near {
		like = "was for the same business, with another price or another optional field,"
	}
	return fmt.Sprintf(
		"the row under key %s of job %s %s and goes, or went%s; the platform deletes nothing. "+
			"Two documents: `safrasync retry --checked`. One that was typed twice: `safrasync dismiss`",
		t.Other.Key, t.Other.Job, like, id)
}
