package trade

import (
	"encoding/json"
	"slices"
	"time"
)

// Group is what one commit of the ledger does while a job sends: it settles finished attempts and
// makes the next intents durable, in one flush.
type Group struct {
	At      time.Time // wall clock of the commit, for the times that it stores
	Settle  []Settlement
	Updates []Update // from the last recheck: changed, gone, doubled or blocked rows
	Intents []Intent
	Space   string         // the identity space of the job, with intents
	Like    map[int64]bool // records that may be like an intent and that the recheck knew
	Block   []Block        // set or replaced, by Kind and ID
	Unblock []Block        // removed, by Kind and ID
}

// Empty reports whether there is nothing to store.
func (g Group) Empty() bool {
	return len(g.Settle)+len(g.Updates)+len(g.Intents)+len(g.Block)+len(g.Unblock) == 0
}

// Simple reports whether every intent and settlement is that of a first attempt, and nothing else is
// updated, so that the ledger need not read the rows: its sender has them.
func (g Group) Simple() bool {
	first := func(e Entry) bool { return e.State == Pending && e.Generation == 1 && e.Attempts == 0 }
	return len(g.Updates) == 0 &&
		!slices.ContainsFunc(g.Settle, func(s Settlement) bool { return s.RecordID == 0 || !first(s.Entry) }) &&
		!slices.ContainsFunc(g.Intents, func(in Intent) bool { return !first(in.Entry) })
}

// GroupResult is which parts of a group took effect.
type GroupResult struct {
	Claimed map[string]bool // attempt ids of the intents that are durable and ours
	Settled map[string]bool // attempt ids of the settlements that were applied
	// the ledger's numbers of the sendings of the claimed intents, by attempt id: see [Settlement]
	Sendings map[string]int64
	// attempt id → "job key" of the entry that already has the id which the API answered; the
	// settlement was not applied
	Conflicts map[string]string
	Paused    bool // the job is paused: no intent was stored; everything else was
	LeaseLost bool // another process has the job: only settlements were stored
	// attempt ids of intents that were not claimed because another job has sent their key or
	// content meanwhile, or may have
	Elsewhere map[string]bool
	Refused   error   // why nothing may be sent from this ledger: all but the intents was stored
	Alarms    []Alarm // late answers that people must know; also in the audit
}

// Alarm is a late answer that contradicts a person's decision, or ends its effect.
type Alarm struct {
	Kind     AlarmKind `json:"kind"`
	Job      string    `json:"job"`
	Key      string    `json:"key"`
	Attempt  string    `json:"attempt"`
	RemoteID string    `json:"remote_id"` // in the late answer; "" if nothing was created
	Other    string    `json:"other"`     // another id that the entry has; "" = none is known
}

// Sentence returns what it means.
func (a Alarm) Sentence() Sentence {
	switch {
	case a.Kind == LateAfterDismissal:
		return Say("alarm.late_after_dismissal")
	case a.Kind == LateBeforeResend:
		return Say("alarm.late_before_resend")
	case a.Kind == LateDouble:
		return Say("alarm.double_after_decision")
	case a.RemoteID == "":
		return Say("alarm.contradicted.nothing")
	}
	return Say("alarm.contradicted.another")
}

// StoredAlarm is an alarm as it is stored: JSON without the sentence, which is made where it is read.
type StoredAlarm Alarm

// MarshalJSON implements [json.Marshaler].
func (a Alarm) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		StoredAlarm
		Text string `json:"text"`
	}{StoredAlarm(a), a.Sentence().String()})
}

// AlarmKind is what a late answer means.
type AlarmKind string

// The kinds of alarms.
const (
	LateAfterDismissal AlarmKind = "late_after_dismissal" // it was created: this ended a dismissal or a hold
	LateBeforeResend   AlarmKind = "late_before_resend"   // it was created: the ordered second sending is cancelled
	// it was created and sent again: the platform may have two
	LateDouble        AlarmKind = "double_after_decision"
	LateContradiction AlarmKind = "contradicted" // it contradicts the id that a person gave
)

// RowVersion is the id and version of a row.
type RowVersion struct {
	ID      int64
	Version int64
}
