package words

import (
	"fmt"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/dryrun"
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
		say("on the platform, of this row: id %s, sent %s", e.RemoteID, v.Moment(at))
	case e.RemoteID != "":
		say("on the platform, of this row: id %s", e.RemoteID)
	case e.State == trade.Accepted:
		say("on the platform, of this row: a record whose id is unknown")
	case slices.ContainsFunc(s.Attempts, trade.Attempt.Undecided):
		say("on the platform, of this row: perhaps a record, of the sending of %s, which is in doubt", v.Moment(at))
	case e.State == trade.Held && e.Cause == trade.CauseExists:
		say("on the platform, of this row: it answered that the record exists already, not which one")
	case e.Weak():
		say("on the platform, of this row: not known; the refusal was in no form of the API, and something may have been created before it")
	case e.Attempts == 0:
		say("on the platform, of this row: nothing; it was never sent")
	default:
		say("on the platform, of this row: nothing; the sending was refused for certain")
	}
	if s.Under != nil {
		say("%d {row that waits|rows that wait} would go under the id %s, which is that of producer %s; if this number is another document now, give that one a number of its own instead", s.Under.Rows, e.RemoteID, s.Under.Producer)
	}
	c := s.Counterpart
	if c == nil || c.Rows > 0 { // the reason says how often the key occurs
		return out
	}
	other := v.Subject(c.Job, c.Key, c.Entry.Shown)
	switch {
	case c.ID != "" && !c.SentAt.IsZero():
		say("the record it was compared with: %s, id %s, sent %s", other, c.ID, v.Moment(c.SentAt))
	case c.ID != "":
		say("the record it was compared with: %s, id %s", other, c.ID)
	case !c.SentAt.IsZero():
		say("the row it was compared with: %s, sent %s, without an id yet", other, v.Moment(c.SentAt))
	default:
		say("the row it was compared with: %s, not sent yet", other)
	}
	return out
}

// Exists returns what is known to be on the platform of the rows that a release lets pass; nothing
// if none of them can be made twice.
func (v Voice) Exists(e *acts.Existing) []string {
	if e == nil {
		return nil
	}
	out := []string{v.Text("%d {row is|rows are} on the platform already, or may be:", e.Rows)}
	for _, s := range e.Sent {
		id := s.RemoteID
		if id == "" {
			id = v.Text("exists.no_id")
		}
		out = append(out, v.Text("%s (%s), id %s", s.Key, v.Titles.Of(s.Job), id))
	}
	if more := e.Rows - len(e.Sent); more > 0 && len(e.Sent) > 0 {
		out = append(out, v.Text("and %d more", more))
	}
	if e.Until != nil {
		out = append(out, v.Text("what was sent after %s is not known, and not counted", v.Moment(*e.Until)))
	}
	return append(out, v.Text("A row that is one of these documents would be made again, and cannot be deleted: look for the new rows on the platform first."))
}

// UnseenCancelled returns the warning that no row has some of the values of `cancelled`, with the
// values that occur.
func UnseenCancelled(v Voice, c dryrun.CancelledColumn, column string) string {
	there := ValueCounts(c.Values)
	for _, value := range c.Values {
		if value.Value == "" {
			there = strings.TrimPrefix(there+", "+v.Text("empty × %d", value.Rows), ", ")
		}
	}
	return v.Text("cancelled: no row has %s in column %s, which contains %s", strings.Join(c.Unseen, ", "), column, there)
}

// RequiredWhen returns the condition under which a field is required. A need other than always or
// optional is the order type that has it.
func RequiredWhen(rule trade.FieldRule) string {
	switch rule.Need {
	case trade.Always:
		return "always"
	case trade.Optional:
		if rule.With != "" {
			return rule.With
		}
		return "never"
	}
	if slices.Contains(orderTypes(), string(rule.Need)) {
		return "order_type = " + string(rule.Need)
	}
	return string(rule.Need)
}

// orderTypes returns the types of order, each once.
func orderTypes() []string {
	for _, rule := range trade.Rules(trade.OrderCommitments) {
		if rule.Field == "order_type" {
			return rule.Values
		}
	}
	return nil
}

// ValueCounts lists values with their numbers of rows. It omits the blank value, which the
// sentence mentions already.
func ValueCounts(values []dryrun.ValueCount) string {
	var out []string
	for _, c := range values {
		if c.Value != "" {
			out = append(out, fmt.Sprintf("“%s” × %d", c.Value, c.Rows))
		}
	}
	return strings.Join(out, ", ")
}
