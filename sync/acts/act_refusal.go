// The reasons for which an act cannot be done.

package acts

// Refusal says why an act cannot be done.
type Refusal string

// The refusals.
const (
	NotRefused   Refusal = ""
	UnknownRow   Refusal = "unknown"     // the ledger has no such row
	NothingToAck Refusal = "not_flagged" // nothing is flagged that an acknowledgement could deal with
	// what happened to the row in the ERP waits until it is known whether the platform has it
	NotAccepted   Refusal = "not_accepted"
	Moved         Refusal = "moved"          // it moved since it was seen
	NotPaused     Refusal = "not_paused"     // the job is not paused
	AlreadyPaused Refusal = "already_paused" // it is paused, by a person or a brake
	BrakeHolds    Refusal = "brake"          // a brake paused it: release ends that
	NothingBraked Refusal = "not_braked"     // no brake holds it

	// the job whose entries would go is configured: it would find its rows anew
	StillConfigured Refusal = "configured"
	NotConfigured   Refusal = "not_configured" // nobody would look after the entries
	OtherKind       Refusal = "other_kind"     // the two jobs send different kinds of records
	NoEntries       Refusal = "no_entries"     // the ledger has no rows of the job
	KeysCollide     Refusal = "keys_collide"   // both jobs have sent rows with the same keys

	GoesAnyway   Refusal = "goes_anyway"   // the next run sends it
	WaitsFor     Refusal = "waits"         // a parent or a reference is missing; it goes by itself
	IsInvalid    Refusal = "invalid"       // its data break a rule; it goes by itself when they are right
	IsInDoubt    Refusal = "in_doubt"      // it may exist on the platform: adopt, resend or dismiss
	IsAccepted   Refusal = "accepted"      // the platform has it
	IsSending    Refusal = "sending"       // it is in flight
	IsDismissed  Refusal = "dismissed"     // a person took it out: reopen
	IsWithdrawn  Refusal = "withdrawn"     // it is not in the ERP; it goes by itself when it is back
	GoneFromERP  Refusal = "vanished"      // the job's query does not return it
	CancelledNow Refusal = "cancelled"     // it is cancelled in the ERP
	DoubleKey    Refusal = "duplicate_key" // its key stands twice in the ERP
	DoubtBefore  Refusal = "doubt_before"  // an earlier sending may have created it: adopt or resend
	NotInDoubt   Refusal = "not_in_doubt"  // nothing of it is in doubt
	NotDismissed Refusal = "not_dismissed" // nobody took it out
	InQuarantine Refusal = "quarantine"    // too early: a request may be executed still
	NotChecked   Refusal = "not_checked"   // the person did not say that the platform was looked at
	NotAnID      Refusal = "no_id"         // what was given is no id of this kind of record
	// a record of this kind can be read back: without an id it cannot be adopted
	NeedsID       Refusal = "needs_id"
	IDTaken       Refusal = "id_taken"        // another row has the id
	NotOnPlatform Refusal = "not_on_platform" // the platform does not know the id
	// what the platform has is not what was sent, or shows nothing that can be compared
	Differs Refusal = "differs"

	SamePerson Refusal = "same_person" // who ordered it, or has agreed, cannot agree
	Lapsed     Refusal = "lapsed"      // nobody agreed in time
	NotAsked   Refusal = "not_asked"   // nothing with this number waits
)
