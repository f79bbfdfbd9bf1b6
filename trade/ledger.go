package trade

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
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

// ErrNotFound means that the ledger has no such row.
var ErrNotFound = errors.New("the ledger has no such row")

// ErrLeaseLost means that another process has taken over the job.
var ErrLeaseLost = errors.New("the job's lease was lost to another process")

// ErrUncertain means that it is unknown whether a commit of the ledger took effect, even after
// reading back.
var ErrUncertain = errors.New("the ledger did not say whether it stored the last commit")

// JournalledError is the error of a ledger whose disk is full, where the journal has the answers that were to
// be stored: they are taken from there once there is room.
type JournalledError struct{ error }

// Journalled returns the error of a ledger as a JournalledError.
func Journalled(err error) error { return JournalledError{err} }

// Unwrap returns the error of the ledger.
func (e JournalledError) Unwrap() error { return e.error }

// LeasedError is the error of a job that another process runs.
type LeasedError struct {
	Job   string
	Owner Owner
	Until time.Time // on the ledger's clock
}

// Error names the holder, so that IT can find it.
func (e *LeasedError) Error() string { return e.Phrase().Error() }

// Phrase returns the same as a sentence.
func (e *LeasedError) Phrase() *phrase.Text {
	return phrase.New("job %s is run by another process (pid %d on %s, lease until %s): wait for it, or stop it",
		e.Job, e.Owner.PID, e.Owner.Host, e.Until.Format(time.RFC3339))
}

// ErrOtherServer means that the ledger is on another database server, or on a promoted replica,
// which nobody has confirmed.
var ErrOtherServer = errors.New("the ledger is on another server")

// ErrWentBack means that the ledger has less than a host has confirmed of it: an older state, or a
// server that was given up, is in its place.
var ErrWentBack = errors.New("the ledger went back to an earlier state")

// ErrUnwitnessed means that the ledger's witness cannot be read, so that nobody can tell whether the
// ledger is an old copy.
var ErrUnwitnessed = errors.New("the witness of the ledger cannot be read")

// OtherPlatformError means that a ledger has sent to another base address than the configured one.
type OtherPlatformError struct {
	Ledger   string // where it has sent
	Now      string // where it would send now
	Accepted int    // rows that the platform at Ledger has accepted
	Doubts   int    // rows in doubt there
}

// Error returns what it means, and the two ways out.
func (e *OtherPlatformError) Error() string { return e.Sentence().String() }

// Sentence returns the same as a sentence.
func (e *OtherPlatformError) Sentence() Sentence {
	return Say("stop.platform.other", "ledger", e.Ledger, "now", e.Now, "accepted", e.Accepted, "doubts", e.Doubts)
}

// The acts of retention in the audit: by the schedule, and by a person.
const (
	ActRetention = "retention"
	ActPurge     = "purge"
)

// AuditRecord is one act that changed what the engine will do. It is never altered or deleted, but
// retention may reduce it (Reduced).
type AuditRecord struct {
	Seq    int64     `json:"seq"`
	At     time.Time `json:"at"`
	Who    string    `json:"who"`    // a person's name, or the program's own for its acts
	From   string    `json:"from"`   // where: host and user of the process
	Act    string    `json:"act"`    // "refs import", "adopt", …
	Target string    `json:"target"` // "wallets", "contracts 01|000123"
	Reason string    `json:"reason"`
	Detail string    `json:"detail"` // JSON: before and after; of the program's own acts also why (Why)
	Prev   string    `json:"prev"`   // hash of the record before; "" for the first
	Hash   string    `json:"hash"`   // hash of Prev and of everything else in the record

	Reduced bool `json:"-"` // retention has removed who, from where, on what, why and the detail
}

// Why returns why the program did something of its own accord; of a person's act it says nothing.
func (r AuditRecord) Why() Sentence {
	var detail struct {
		Why Sentence `json:"why"`
	}
	if r.Reason != "" || json.Unmarshal([]byte(r.Detail), &detail) != nil {
		return Sentence{}
	}
	return detail.Why
}

// Because returns the person's reason, or why the program did it, in a language.
func (r AuditRecord) Because(lang Lang, zone *time.Location) string {
	return cmp.Or(r.Reason, r.Why().In(lang, zone))
}

// AuditProof is what was found when the audit was compared with its own hashes, and with the ends of
// it that the journal has.
type AuditProof struct {
	Broken   int64 // the first record that was altered, is missing or was put in; 0 = none
	Last     int64 // the last record
	Journals int   // how many journals it was compared with; without one nothing is proved
	// the last record that a journal has; what comes after it could be missing unnoticed
	Through int64
	// the first record without its words, if no journal knows the retention that may take them;
	// 0 = none
	Reduced int64
}

// Proved reports whether the audit is as it was written.
func (p AuditProof) Proved() bool { return p.Broken == 0 && p.Journals > 0 && p.Reduced == 0 }

// RowVersion is the id and version of a row.
type RowVersion struct {
	ID      int64
	Version int64
}

// JobMove is what giving a job another name would change or has changed.
type JobMove struct {
	From    string        `json:"from"`
	To      string        `json:"to"`
	Sends   Kind          `json:"sends"`   // "" = the ledger has no entries of From
	Entries int           `json:"entries"` // that are moved
	States  map[State]int `json:"states"`  // their states
	Paused  bool          `json:"paused"`  // To is paused afterwards
	Taken   bool          `json:"-"`       // the ledger has entries or records of To: nothing is moved
}

// Closing is a report that a person has closed: it stays the same permanently, whatever happens to
// the rows.
type Closing struct {
	ID      string          `json:"id"`  // UUIDv7
	Day     Date            `json:"day"` // the report's cut-off
	At      time.Time       `json:"at"`
	Who     string          `json:"who"`
	Reason  string          `json:"reason"`
	Rows    int             `json:"rows"`
	Program string          `json:"program"` // the version that closed it
	Head    json.RawMessage `json:"-"`       // everything but the rows
	Parts   int             `json:"-"`
	Hash    string          `json:"hash"`  // of head and parts
	Audit   int64           `json:"audit"` // number of its audit record
}

// ErrClosingDamaged is returned if a closed report is not what was closed.
var ErrClosingDamaged = errors.New("the closed report is damaged: restore the backup")

// ClosingPart is the size of one part of a closing's rows in bytes; only the last part may be
// smaller.
const ClosingPart = 64 << 10

// ClosingSum computes the hash of a closing, from its head and its parts in order.
type ClosingSum struct{ of hash.Hash }

// NewClosingSum begins the hash of a closing with its head.
func NewClosingSum(head []byte) ClosingSum {
	s := ClosingSum{sha256.New()}
	_, _ = fmt.Fprintf(s.of, "%d:%s", len(head), head) // a hash never fails to write
	return s
}

// Part adds a part in the form in which the ledger stores it.
func (s ClosingSum) Part(data string) { _, _ = io.WriteString(s.of, data) }

// Hash returns the hash of what was added.
func (s ClosingSum) Hash() string { return hex.EncodeToString(s.of.Sum(nil)) }
