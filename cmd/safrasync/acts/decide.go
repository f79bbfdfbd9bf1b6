package acts

import (
	"strings"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/words"
	engineacts "github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// decision returns what a person must know before deciding about a row that may be on the platform.
func decision(v words.Voice, act string, s engineacts.RowStep) []string {
	if act != engineacts.ActResend && act != engineacts.ActAdopt || s.Before.ID == 0 {
		return nil
	}
	var out []string
	say := func(p i18n.Key, args ...any) { out = append(out, v.Text(p, args...)) }
	for _, t := range s.Attempts {
		at := t.FinishedAt
		if at.IsZero() {
			at = t.StartedAt
		}
		say("attempt %d, %s: %s: %s", t.No, v.Moment(at), v.Text("outcome."+words.OutcomeName(t.Outcome)),
			v.Say(t.Reason))
		if phase := words.PhaseOf(t.Evidence); phase != "" {
			say("  how far it got: %s", v.Text("phase."+phase))
		}
		if t.RemoteID != "" {
			say("  id in the answer: %s", t.RemoteID)
		}
	}
	if s.Remaining > 0 {
		say("quarantine left: %s (the platform may still execute the request; changing the clock does not shorten it, and restarting the machine starts it again)", v.Span(s.Remaining))
	}
	switch {
	case s.GivesUp != nil:
		say("the id belonged to row %s %s, which has left the ERP, was cancelled or replaced there: its record now belongs to this row; the other row stays accepted, with the flag `moved`, and rows that refer to it keep the same id", s.Holder.Job, s.Holder.Key)
	case s.Holder != (trade.ParentKey{}):
		say("the id belongs to row %s %s", s.Holder.Job, s.Holder.Key)
	}
	if sent := engineacts.SentFields(s.Before); act == engineacts.ActResend && len(sent) > 0 {
		fields := trade.Map(sent, func(f engineacts.FieldReading) string {
			return trade.FieldLabel(f.Field, v.Lang) + " " + *f.Sent
		})
		say("look on the platform for a record with: %s", strings.Join(fields, "; "))
		if s.Refused == engineacts.NotRefused || s.Refused == engineacts.NotChecked {
			say("if it is there, do not send it: use `safrasync adopt`. Sent again it would exist twice, and the API cannot delete.")
		}
	}
	for _, p := range s.Problems {
		out = append(out, p.Sentence(v.Lang))
	}
	out = append(out, v.Awaited(s.WaitingFor)...)
	if r := s.Reading; r != nil {
		for _, f := range r.Fields {
			mine, there := v.OrAbsent(f.Sent), v.OrAbsent(f.There)
			switch {
			case f.Recoded:
				say("%s: %s; the code table has changed (now %s, on the platform %s)", trade.FieldLabel(f.Field, v.Lang), f.SentName, mine, there)
			case !f.Same:
				say("%s: in this row %s, on the platform %s", trade.FieldLabel(f.Field, v.Lang), strings.TrimSpace(f.SentName+" "+mine),
					strings.TrimSpace(f.ThereName+" "+there))
			}
		}
		say("compared with the platform: %d {field|fields} the same, %d different, %d that it does not show", r.Same, r.Differ, len(r.Unseen))
	}
	return out
}
