package trade

import "slices"

// State is where an entry of the ledger stands. The names are stored, printed by --json and relied
// on by users.
type State string

// The states. Each comment says how an entry gets in, who takes it out, and what a crash leaves
// behind.
const (
	// Pending is to be sent now, or at NextAttemptAt. In: a valid row; proof that nothing was
	// created.
	// Out: the engine. A crash changes nothing.
	Pending State = "pending"
	// Waiting lacks a platform id: of its parent, of a reference (de-para), or of a record that the
	// platform said it does not know. In and out: the engine, in the same run in which the cause
	// goes away. A crash changes nothing.
	Waiting State = "waiting"
	// Invalid failed the mapping or the rules here and was not sent. Out: by itself, when the row,
	// the mapping or a reference changes.
	Invalid State = "invalid"
	// Sending has a durable intent; bytes may have left. In and out: the process that owns the
	// attempt. A crash leaves it here, and the next run moves it to InDoubt before it sends
	// anything.
	Sending State = "sending"
	// Accepted was confirmed by the API and has the platform's id. Final: never sent a second time.
	// What the ERP does to the row later is a flag.
	Accepted State = "accepted"
	// Rejected was refused by the API for certain. Out: the engine, when its payload would differ,
	// or slowly by time where the cause can be cured on the platform; a person.
	Rejected State = "rejected"
	// InDoubt may exist on the platform. In: an unknown outcome; a crash. Out: a person, or
	// evidence that is certain. Never the engine by a guess.
	InDoubt State = "in_doubt"
	// Held needs a person: it exists already, was re-typed, stands twice in the ERP, or vanished
	// before it was sent. A cured double key and a reappearance take it out by themselves.
	Held State = "held"
	// Dismissed was taken out by a person, with a reason. Out: a person (reopen).
	Dismissed State = "dismissed"
	// Withdrawn was never created and has been gone from the ERP for two complete sweeps. Out: its
	// reappearance.
	Withdrawn State = "withdrawn"
)

// States lists all states in the order in which people are shown them.
var States = []State{Pending, Waiting, Invalid, Sending, Accepted, Rejected, InDoubt, Held, Dismissed, Withdrawn}

// Moves are the allowed changes of state; the empty state is "not in the ledger yet". The database
// holds the same table and refuses every other change. From pending, waiting, invalid, rejected and
// withdrawn only the late answer of an earlier attempt accepts an entry, which the database looks
// after too.
var Moves = map[State][]State{
	"":        {Pending, Waiting, Invalid, Held},
	Pending:   {Waiting, Invalid, Sending, Held, Dismissed, Withdrawn, Accepted},
	Waiting:   {Pending, Invalid, Held, Dismissed, Withdrawn, Accepted},
	Invalid:   {Pending, Waiting, Held, Dismissed, Withdrawn, Accepted},
	Sending:   {Pending, Accepted, Rejected, InDoubt, Held},
	Rejected:  {Pending, Waiting, Invalid, Held, Dismissed, Withdrawn, Accepted},
	InDoubt:   {Pending, Accepted, Rejected, Held, Dismissed},
	Held:      {Pending, Waiting, Invalid, Accepted, Dismissed, Withdrawn},
	Dismissed: {Pending, Waiting, Invalid, Accepted, Rejected, InDoubt, Held},
	Withdrawn: {Pending, Waiting, Invalid, Held, Accepted},
	Accepted:  {},
}

// CanMove reports whether the table allows the change. Staying in a state is always allowed.
func CanMove(from, to State) bool { return from == to || slices.Contains(Moves[from], to) }

// NeedsPerson reports whether an entry in this state makes `sync --strict` exit with 3.
func (s State) NeedsPerson() bool {
	return s == Invalid || s == Rejected || s == InDoubt || s == Held
}

// Created reports whether the record exists, or may exist, on the platform: such an entry is never
// mapped to another payload.
func (s State) Created() bool { return s == Accepted || s == InDoubt || s == Sending }

// Flag is a remark on an entry; flags never change its state and are never summands (I9).
type Flag string

// The flags.
const (
	Changed      Flag = "changed"      // the ERP row differs now so that its payload would differ
	MissingInERP Flag = "missing"      // the last complete sweep did not find the row
	Cancelled    Flag = "cancelled"    // the ERP row is cancelled now
	Forced       Flag = "forced"       // a person had it sent again (generation above 1)
	EchoDiffers  Flag = "echo_differs" // the API's answer repeats other values than were sent
	Twin         Flag = "twin"         // another row of the ERP has the same content
	// another row of the ERP asks for the same business, with another price or optional field
	NearTwin      Flag = "near_twin"
	DeletedRemote Flag = "deleted_remote" // the platform says the record was deleted there
	// a late answer, or a row that is back in the ERP, says otherwise than what a person decided
	Contradicted Flag = "contradicted"
	// DoubleAfterDecision: a late answer says that an earlier sending created a record, after a
	// person had the row sent again: the platform may have two.
	DoubleAfterDecision Flag = "double_after_decision"
	// Replaced: the row that was sent does not stand under this key any more: it stands under
	// another key, or had left the ERP.
	Replaced Flag = "replaced"
	Moved    Flag = "moved" // its record belongs to the row under its new key now: a person said that it was re-typed
)

// AllFlags lists the flags in the order in which people are shown them.
var AllFlags = []Flag{
	Changed, MissingInERP, Cancelled, Forced, EchoDiffers, Twin, NearTwin, DeletedRemote,
	Contradicted, DoubleAfterDecision, Replaced, Moved,
}

// Flags is a set of flags, kept sorted.
type Flags []Flag

// Has reports whether a flag is set.
func (f Flags) Has(flag Flag) bool { return slices.Contains(f, flag) }

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
	CauseDuplicateKey = "duplicate_key"  // the key stands twice in the ERP
	CauseRetyped      = "retyped"        // the same content went out under another key, where it stands no more
	CauseTwin         = "twin"           // another living row has the same content, and `checks.twin` is hold
	CauseOtherJob     = "other_job"      // another job of the same kind has sent this key, or may have
	CauseVanished     = "vanished"       // the row left the ERP, or was cancelled, between reading and sending
	CauseExists       = "exists"         // the platform says that it exists already
	CauseDeleted      = "deleted_remote" // of a parent: the platform does not have its record any more
	// of a parent: its record is that of another row than the one that stands under its key now
	CauseReplaced = "replaced"
	CauseUnknown  = "unknown" // nobody knows whether the platform created it
)
