package words

import (
	"slices"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// Known returns what is known to exist on the platform of a row on which a person acts, and what a
// held row was compared with.
func (v Voice) Known(s acts.RowStep) []string {
	e := s.Before
	if e.ID == 0 {
		return nil
	}
	at := acts.SentAt(s.Attempts)
	var out []string
	say := func(key i18n.Key, args ...any) { out = append(out, v.Text(key, args...)) }
	switch {
	case e.RemoteID != "" && !at.IsZero():
		say("known.made", e.RemoteID, v.Moment(at))
	case e.RemoteID != "":
		say("known.stated", e.RemoteID)
	case e.State == trade.Accepted:
		say("known.no_id")
	case slices.ContainsFunc(s.Attempts, trade.Attempt.Undecided):
		say("known.maybe", v.Moment(at))
	case e.State == trade.Held && e.Cause == trade.CauseExists:
		say("known.exists")
	case e.Weak():
		say("known.weak")
	case e.Attempts == 0:
		say("known.never")
	default:
		say("known.refused")
	}
	if s.Under != nil {
		say("known.under", s.Under.Rows, e.RemoteID, s.Under.Producer)
	}
	c := s.Counterpart
	if c == nil || c.Rows > 0 { // the reason says how often the key occurs
		return out
	}
	other := v.Subject(c.Job, c.Key, c.Entry.Shown)
	switch {
	case c.ID != "" && !c.SentAt.IsZero():
		say("known.other.made", other, c.ID, v.Moment(c.SentAt))
	case c.ID != "":
		say("known.other.stated", other, c.ID)
	case !c.SentAt.IsZero():
		say("known.other.maybe", other, v.Moment(c.SentAt))
	default:
		say("known.other.unsent", other)
	}
	return out
}

// Exists returns what is known to be on the platform of the rows that a release lets pass; nothing
// if none of them can be made twice.
func (v Voice) Exists(e *acts.Existing) []string {
	if e == nil {
		return nil
	}
	out := []string{v.Text("exists.rows", e.Rows)}
	for _, s := range e.Sent {
		id := s.RemoteID
		if id == "" {
			id = v.Text("exists.no_id")
		}
		out = append(out, v.Text("exists.row", s.Key, v.Titles.Of(s.Job), id))
	}
	if more := e.Rows - len(e.Sent); more > 0 && len(e.Sent) > 0 {
		out = append(out, v.Text("exists.more", more))
	}
	if e.Until != nil {
		out = append(out, v.Text("exists.until", v.Moment(*e.Until)))
	}
	return append(out, v.Text("exists.compare"))
}
