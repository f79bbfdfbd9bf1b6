// What a late answer does to its entry.

package state

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/books"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// answerEffect is the effect of an answer on its entry.
type answerEffect struct {
	settlement *trade.Settlement // nil: no change; without a state: only its flags are added
	remoteID   string            // the id of an entry that becomes accepted
	clear      trade.Flag        // a flag to remove; "" = none
	// what people must be shown; nil if the answer agrees with the decision
	alarm *trade.Alarm
}

// becomes decides what the answer of an attempt does to its entry. While the entry is in flight or
// in doubt because of this attempt, the settlement applies. If a person has decided meanwhile, only
// what the decision left open applies. A record that exists is never hidden by a decision.
func (g *groupTx) becomes(e *trade.Entry, a *attemptRow, st *trade.Settlement) answerEffect {
	accepted := trade.Settlement{Attempt: st.Attempt, State: trade.Accepted, Flags: st.Flags}
	state, created := e.State, st.Attempt.Outcome == trade.OutcomeCreated
	have, others := g.Records.idOf(e), g.Records.others(e, a.Generation)
	earlier := "" // the id of a record that another attempt created
	for _, o := range others {
		if o.Certainty == string(trade.Made) {
			earlier = o.RemoteID
		}
	}
	var single trade.Flag // it goes when one record is left that may exist
	if len(others) == 1 {
		single = trade.DoubleAfterDecision
	}
	switch {
	case a.Generation == e.Generation && (state == trade.Sending || state == trade.InDoubt):
		certainlyNot := st.Attempt.Outcome == trade.OutcomeNotCreated || st.Attempt.Outcome == trade.OutcomeNotSent
		switch {
		// an earlier attempt has created the record, and this one has not
		case certainlyNot && earlier != "":
			return answerEffect{settlement: &accepted, remoteID: earlier, clear: single}
		case !trade.CanMove(state, st.State):
			return answerEffect{}
		}
		return answerEffect{settlement: st, remoteID: a.AnswerID}
	case state == trade.Accepted && !created && earlier != "" && earlier == have:
		return answerEffect{settlement: &trade.Settlement{}, clear: single}
	// A person stated that the record exists; now its id is known, or which sending has made it.
	case state == trade.Accepted && created && (have == "" || have == a.AnswerID):
		return answerEffect{settlement: &accepted, remoteID: a.AnswerID}
	case state == trade.Accepted && !created && a.Generation == e.Generation:
		return g.alarmFor(trade.LateContradiction, trade.Contradicted, e, a, "")
	case !created: // agrees with the decision
		return answerEffect{}
	// a person had dismissed it, or decided otherwise
	case a.Generation == e.Generation && state != trade.Accepted:
		accepted.Flags = accepted.Flags.With(trade.Contradicted, true)
		b := g.alarmFor(trade.LateAfterDismissal, "", e, a, "")
		b.settlement, b.remoteID = &accepted, a.AnswerID
		return b
	}
	for _, o := range others {
		if o.Generation > a.Generation || o.Certainty == string(trade.Made) {
			return g.alarmFor(trade.LateDouble, trade.DoubleAfterDecision, e, a, o.RemoteID)
		}
	}
	if state == trade.Accepted {
		return g.alarmFor(trade.LateContradiction, trade.Contradicted, e, a, "")
	}
	b := g.alarmFor(trade.LateBeforeResend, "", e, a, "")
	b.settlement, b.remoteID = &accepted, a.AnswerID
	return b
}

// alarmFor returns an alarm, with the flag that keeps it visible.
func (g *groupTx) alarmFor(kind trade.AlarmKind, flag trade.Flag, e *trade.Entry, a *attemptRow, other string,
) answerEffect {
	if id := g.Records.idOf(e); id != "" {
		other = id
	}
	out := answerEffect{
		settlement: &trade.Settlement{},
		alarm: &trade.Alarm{
			Kind: kind, Job: e.Job, Key: e.Key, Attempt: a.Attempt, RemoteID: a.AnswerID, Other: other,
		},
	}
	if flag != "" {
		out.settlement.Flags = trade.Flags{flag}
	}
	return out
}

// record writes an alarm to the audit, in the transaction of the answer.
func (g *groupTx) record(alarm trade.Alarm, before, after trade.State) error {
	detail, err := json.Marshal(struct {
		Before trade.State `json:"before"`
		After  trade.State `json:"after"`
		trade.StoredAlarm
		Why trade.Sentence `json:"why"`
	}{before, after, trade.StoredAlarm(alarm), alarm.Sentence()})
	if err != nil {
		return phrase.Errorf("a late answer: %w", err)
	}
	owner := sqldb.Self()
	err = books.AddAudit(g.Tx, trade.AuditRecord{
		At: time.Now(), Who: books.ProgramName,
		From: fmt.Sprintf("pid %d@%s", owner.PID, owner.Host), Act: "late answer",
		Target: alarm.Job + " " + alarm.Key, Detail: string(detail),
	})
	g.Result.Alarms = append(g.Result.Alarms, alarm)
	return err
}
