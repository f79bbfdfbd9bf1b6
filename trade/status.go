package trade

import "slices"

// State is the state of an entry of the ledger. The names are stored, printed by --json and relied
// on by users.
type State string

// The states. Each comment states how an entry enters it, how it leaves it, and what a crash leaves
// behind.
const (
	// Pending is to be sent now, or at NextAttemptAt. In: a valid row; proof that nothing was
	// created. Out: the engine. A crash changes nothing.
	Pending State = "pending"
	// Waiting lacks a platform id: of its parent, of a reference (de-para), or of a record that the
	// platform reported as unknown. In and out: the engine, in the run in which the cause goes
	// away. A crash changes nothing.
	Waiting State = "waiting"
	// Invalid broke the mapping or the rules here and was not sent. Out: by itself, when the row,
	// the mapping or a reference changes.
	Invalid State = "invalid"
	// Sending has a durable intent; bytes may have left. In and out: the process that owns the
	// attempt. After a crash it stays here until the next run settles it, before it sends anything:
	// by what the process noted of the attempt, otherwise as InDoubt.
	Sending State = "sending"
	// Accepted was confirmed by the API, and has the platform's id unless a person knew only that the
	// record exists. Final: never sent a second time.
	// Later changes of the row in the ERP are flags.
	Accepted State = "accepted"
	// Rejected was certainly refused by the API. Out: the engine, when its payload would differ or,
	// if the cause can be cured on the platform, at growing intervals; a person.
	Rejected State = "rejected"
	// InDoubt may exist on the platform. In: an unknown outcome; a crash. Out: a person, or certain
	// evidence. Never the engine by a guess.
	InDoubt State = "in_doubt"
	// Held needs a person: it exists already, was typed again, occurs twice in the ERP, or left the
	// ERP before it was sent. A cured double key and a row that is back leave this state by
	// themselves.
	Held State = "held"
	// Dismissed was left out by a person, with a reason. Out: a person (reopen).
	Dismissed State = "dismissed"
	// Withdrawn was never created, and has been gone from the ERP for two complete sweeps. Out:
	// when the row is back.
	Withdrawn State = "withdrawn"
)

// States lists all states in the order in which they are shown.
var States = []State{Pending, Waiting, Invalid, Sending, Accepted, Rejected, InDoubt, Held, Dismissed, Withdrawn}

// NeedsPerson reports whether an entry in this state makes `sync --strict` exit with 3.
func (s State) NeedsPerson() bool {
	return s == Invalid || s == Rejected || s == InDoubt || s == Held
}

// MayBeOnPlatform reports whether the record exists, or may exist, on the platform; such an entry is never
// mapped to another payload.
func (s State) MayBeOnPlatform() bool { return s == Accepted || s == InDoubt || s == Sending }

// Flag is a remark on an entry; flags never change its state and are never summands (I9).
type Flag string

// The flags.
const (
	Changed      Flag = "changed"      // the ERP row has changed, so that its payload would differ
	MissingInERP Flag = "missing"      // the last complete sweep did not find the row
	Cancelled    Flag = "cancelled"    // the ERP row is cancelled now
	Forced       Flag = "forced"       // a person had it sent again (generation above 1)
	EchoDiffers  Flag = "echo_differs" // the API's answer repeats other values than were sent
	Twin         Flag = "twin"         // another row of the ERP has the same content
	// another row of the ERP has the same identifying fields, with another price or other field
	NearTwin      Flag = "near_twin"
	DeletedRemote Flag = "deleted_remote" // the platform reported that the record was deleted
	// a late answer, or a row that is back in the ERP, contradicts a person's decision
	Contradicted Flag = "contradicted"
	// DoubleAfterDecision: a late answer shows that an earlier attempt created a record, after a
	// person had the row sent again. The platform may have two.
	DoubleAfterDecision Flag = "double_after_decision"
	// Replaced: the row that was sent is not under this key any more, but under another key, or has
	// left the ERP.
	Replaced Flag = "replaced"
	Moved    Flag = "moved" // its record was moved to the row under its new key
	// Recoded: it was sent with an id of a de-para code that has another id now
	Recoded Flag = "recoded"
)

// AllFlags lists the flags in the order in which they are shown.
var AllFlags = []Flag{
	Changed, MissingInERP, Cancelled, Forced, EchoDiffers, Twin, NearTwin, DeletedRemote,
	Contradicted, DoubleAfterDecision, Replaced, Moved, Recoded,
}

// Flags is a set of flags, kept sorted.
type Flags []Flag

// Has reports whether a flag is set.
func (f Flags) Has(flag Flag) bool { return slices.Contains(f, flag) }

// Hides reports whether an entry counts as renumbered or replaced, and not as something else that follows from it.
func (f Flags) Hides(flag Flag) bool {
	return f.Has(Replaced) && (flag == Changed || flag == MissingInERP)
}

// With returns the set with a flag set or cleared; f itself is not changed.
func (f Flags) With(flag Flag, on bool) Flags {
	out := slices.DeleteFunc(slices.Clone(f), func(g Flag) bool { return g == flag })
	if on {
		out = append(out, flag)
		slices.Sort(out)
	}
	return out
}

// The causes of an entry that are not an API message key, rule:FIELD or ref:KIND.
const (
	CauseParent       = "parent"         // its parent has no platform id yet
	CauseDuplicateKey = "duplicate_key"  // the key occurs twice in the ERP
	CauseRetyped      = "retyped"        // sent with this content under another key, which lost it
	CauseTwin         = "twin"           // another living row is equal, and `checks.twin` is hold
	CauseOtherJob     = "other_job"      // another job of the same kind has sent this key, or may have
	CauseVanished     = "vanished"       // it left the ERP or was cancelled before it was sent
	CauseExists       = "exists"         // the platform reported that it exists already
	CauseDeleted      = "deleted_remote" // of a parent: the platform lost its record
	// of a parent: its record belongs to another row than the one that has its key now
	CauseReplaced = "replaced"
	CauseCutOver  = "before_cut_over" // of a parent: only the first day of its query leaves it out
	CauseUnknown  = "unknown"         // it is unknown whether the platform created it
)
