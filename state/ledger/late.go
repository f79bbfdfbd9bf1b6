// What a late answer does to its entry.

package ledger

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/safrasync/safrasync/state/audit"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// sibling is an attempt of an entry, as far as a late answer needs it.
type sibling struct {
	ID, RemoteID string
	EntryID      int64
	Generation   int
	Outcome      string // "" while it is open
}

// mayHaveCreated reports whether the attempt may have created a record.
func (s sibling) mayHaveCreated() bool {
	o := trade.Outcome(s.Outcome)
	return o == trade.OutcomeOpen || o == trade.OutcomeUnknown || o == trade.OutcomeCreated
}

// siblings reads the attempts of the entries that a person had sent again: only there can an
// attempt end that is not the newest.
func (g *GroupTx) siblings() (map[int64][]sibling, error) {
	out := map[int64][]sibling{}
	var ids []int64
	for _, st := range g.Group.Settle {
		if a := g.Attempts[st.Attempt.ID]; a != nil && g.Entries[a.EntryID].Generation > 1 &&
			!slices.Contains(ids, a.EntryID) {
			ids = append(ids, a.EntryID)
		}
	}
	if len(ids) == 0 {
		return out, nil
	}
	var rows []sibling
	err := g.All(&rows, `SELECT id, entry_id, generation, COALESCE(outcome, '') AS outcome, remote_id FROM attempt
		WHERE `+g.S.D.Among("entry_id")+` ORDER BY no`, sqldb.ListOf(g.S.D, ids))
	for _, r := range rows {
		out[r.EntryID] = append(out[r.EntryID], r)
	}
	return out, err
}

// current returns the attempts of an entry, including what this group has settled so far.
func (g *GroupTx) current(of []sibling) []sibling {
	of = slices.Clone(of)
	for i, s := range of {
		if a := g.Attempts[s.ID]; a != nil {
			of[i].Outcome, of[i].RemoteID = a.Outcome.String, a.RemoteID
		}
	}
	return of
}

// becomes is the effect of an answer on its entry.
type becomes struct {
	settlement *trade.Settlement // nil: no change; without a state: only its flags are added
	remoteID   string            // the id of an entry that becomes accepted
	clear      trade.Flag        // a flag to remove; "" = none
	// what people must be shown; nil if the answer agrees with the decision
	alarm *trade.Alarm
}

// becomes decides what the answer of an attempt does to its entry. While the entry is in flight or
// in doubt because of this attempt, the settlement applies. If a person has decided meanwhile, only
// what the decision left open applies. A record that exists is never hidden by a decision.
func (g *GroupTx) becomes(e *NarrowRow, a *AttemptRow, st *trade.Settlement, siblings []sibling) becomes {
	accepted := trade.Settlement{Attempt: st.Attempt, State: trade.Accepted, Flags: st.Flags}
	state, created := trade.State(e.State), st.Attempt.Outcome == trade.OutcomeCreated
	earlier := "" // the id of a record that another attempt created
	for _, s := range siblings {
		if s.ID != a.ID && s.Outcome == string(trade.OutcomeCreated) {
			earlier = s.RemoteID
		}
	}
	switch {
	case a.Generation == e.Generation && (state == trade.Sending || state == trade.InDoubt):
		certainlyNot := st.Attempt.Outcome == trade.OutcomeNotCreated || st.Attempt.Outcome == trade.OutcomeNotSent
		switch {
		// an earlier attempt has created the record, and this one has not
		case certainlyNot && earlier != "":
			return becomes{settlement: &accepted, remoteID: earlier, clear: trade.DoubleAfterDecision}
		case !trade.CanMove(state, st.State):
			return becomes{}
		}
		return becomes{settlement: st, remoteID: a.RemoteID}
	case state == trade.Accepted && !created && earlier != "" && earlier == e.recordID():
		return becomes{settlement: &trade.Settlement{}, clear: trade.DoubleAfterDecision}
	// A person stated that the record exists; now its id is known.
	case state == trade.Accepted && created && e.recordID() == "":
		return becomes{settlement: &accepted, remoteID: a.RemoteID}
	case state == trade.Accepted && created && e.recordID() == a.RemoteID:
		return becomes{}
	case state == trade.Accepted && !created && a.Generation == e.Generation:
		return g.alarmFor(trade.LateContradiction, trade.Contradicted, e, a, "",
			"the answer to its request came late and says that nothing was created, although a person gave an id or said that it is there")
	case !created: // agrees with the decision
		return becomes{}
	// a person had dismissed it, or decided otherwise
	case a.Generation == e.Generation && state != trade.Accepted:
		accepted.Flags = accepted.Flags.With(trade.Contradicted, true)
		b := g.alarmFor(trade.LateAfterDismissal, "", e, a, "",
			"the platform has it after all: the answer to its request came late, after a person had taken the row out")
		b.settlement, b.remoteID = &accepted, a.RemoteID
		return b
	}
	for _, s := range siblings {
		if s.ID != a.ID && s.mayHaveCreated() && (s.Generation > a.Generation || s.RemoteID != "") {
			return g.alarmFor(trade.LateDouble, trade.DoubleAfterDecision, e, a, s.RemoteID,
				"a record was created, and the row was sent another time by a person's decision: the platform may have two")
		}
	}
	if state == trade.Accepted {
		return g.alarmFor(trade.LateContradiction, trade.Contradicted, e, a, "",
			"the answer to its request came late and gives another id than a person did")
	}
	b := g.alarmFor(trade.LateBeforeResend, "", e, a, "",
		"an earlier sending had created it: what a person ordered to be sent again was not sent, and will not be")
	b.settlement, b.remoteID = &accepted, a.RemoteID
	return b
}

// alarmFor returns an alarm, with the flag that keeps it visible.
func (g *GroupTx) alarmFor(kind trade.AlarmKind, flag trade.Flag, e *NarrowRow, a *AttemptRow,
	other, text string,
) becomes {
	if id := e.recordID(); id != "" {
		other = id
	}
	out := becomes{
		settlement: &trade.Settlement{},
		alarm: &trade.Alarm{
			Kind: kind, Job: e.Job, Key: e.Key, Attempt: a.ID, RemoteID: a.RemoteID, Other: other,
			Text: text,
		},
	}
	if flag != "" {
		out.settlement.Flags = trade.Flags{flag}
	}
	return out
}

// record writes an alarm to the audit, in the transaction of the answer.
func (g *GroupTx) record(alarm trade.Alarm, before trade.State, after string) error {
	detail, err := json.Marshal(struct {
		Before trade.State `json:"before"`
		After  string      `json:"after"`
		trade.Alarm
	}{before, after, alarm})
	if err != nil {
		return fmt.Errorf("a late answer: %w", err)
	}
	owner := sqldb.Self()
	err = audit.AddAudit(g.Tx, trade.AuditRecord{
		At: time.Now(), Who: audit.Program, From: fmt.Sprintf("pid %d@%s", owner.PID, owner.Host), Act: "late answer",
		Target: alarm.Job + " " + alarm.Key,
		Reason: alarm.Text, Detail: string(detail),
	})
	g.Result.Alarms = append(g.Result.Alarms, alarm)
	return err
}
