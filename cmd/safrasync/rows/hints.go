package rows

import (
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

// printHints prints what events reported.
func printHints(a *cli.App, e trade.Entry, h office.Hints) {
	v := a.Voice()
	for _, o := range h.Heard {
		word := ""
		if o.Word != "" {
			word = ": " + o.Word
		}
		a.Show("  %s, reported by the platform: %s%s", v.Moment(o.At), trade.EventLabel(o.Event, v.Lang), word)
	}
	if e.State != trade.InDoubt {
		return
	}
	if e.Sends != trade.OrderCommitments {
		a.Show("  The API has no events for deliveries and traceability and cannot read them: check on the platform.")
	}
	for _, s := range h.Like {
		a.Show("hint.record", s.Candidate.ID, s.Reading.Same, s.Reading.Differ, len(s.Reading.Unseen))
		for _, f := range s.Reading.Fields {
			if !f.Same {
				a.Show("    %s: sent %s, on the platform %s", trade.FieldLabel(f.Field, v.Lang),
					v.OrAbsent(f.Sent), v.OrAbsent(f.There))
			}
		}
		a.Show("    if it is this one: `safrasync adopt %s '%s' %s --reason TEXT`", e.Job, e.Key, s.Candidate.ID)
	}
	for _, c := range h.Unreadable {
		a.Show("  An event reported record %s, which could not be read; that does not show whether it exists", c.ID)
	}
	if h.Compared > 0 {
		a.Show("hint.more", h.Compared)
	}
	if h.Listening && len(h.Like) == 0 && h.Compared == 0 {
		a.Show("  Since the request, %d {event|events} arrived, %d of order commitments, and none of a record like this one; that proves nothing", h.Events, h.Own)
	}
	if h.Several() {
		a.Show("  More than one record, or more than one row, has this content: only a person can tell which belongs to which.")
	}
}
