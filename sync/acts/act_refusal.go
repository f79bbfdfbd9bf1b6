// Why an act cannot be done.

package acts

import (
	"encoding/json"

	"github.com/safrasync/safrasync/trade"
)

// Refusal is why an act cannot be done; null in JSON if it can.
type Refusal string

// MarshalJSON writes the name, or null.
func (r Refusal) MarshalJSON() ([]byte, error) { return json.Marshal(trade.OrNull(string(r))) }

// The refusals.
const (
	NotRefused   Refusal = ""
	UnknownRow   Refusal = "unknown"     // the ledger has no such row
	NothingToAck Refusal = "not_flagged" // it has no flag that an acknowledgement could remove
	// first it must be known whether the platform has the row
	NotAccepted   Refusal = "not_accepted"
	Moved         Refusal = "moved"          // it changed since it was shown
	NotPaused     Refusal = "not_paused"     // the job is not paused
	AlreadyPaused Refusal = "already_paused" // it is paused, by a person or a brake
	BrakeHolds    Refusal = "brake"          // a brake paused it: use release
	NothingBraked Refusal = "not_braked"     // no brake holds it

	// the job whose entries would be moved is configured: it would discover its rows again
	StillConfigured Refusal = "configured"
	NotConfigured   Refusal = "not_configured" // the entries would belong to no configured job
	OtherKind       Refusal = "other_kind"     // the two jobs send different kinds of records
	NoEntries       Refusal = "no_entries"     // the ledger has no rows of the job
	NameTaken       Refusal = "name_taken"     // the ledger has rows of the new job

	GoesAnyway   Refusal = "goes_anyway"   // the next run sends it
	WaitsFor     Refusal = "waits"         // a parent or a reference is missing; it goes by itself
	IsInvalid    Refusal = "invalid"       // its data break a rule; it goes by itself when they are right
	IsInDoubt    Refusal = "in_doubt"      // it may exist on the platform: adopt, resend or dismiss
	IsAccepted   Refusal = "accepted"      // the platform has it
	IsSending    Refusal = "sending"       // it is in flight
	IsDismissed  Refusal = "dismissed"     // a person dismissed it: reopen
	IsWithdrawn  Refusal = "withdrawn"     // it is not in the ERP; it goes by itself when it is back
	GoneFromERP  Refusal = "vanished"      // the job's query does not return it
	CancelledNow Refusal = "cancelled"     // it is cancelled in the ERP
	DoubleKey    Refusal = "duplicate_key" // its key occurs twice in the ERP
	// an earlier attempt may have created it: adopt or resend
	DoubtBefore  Refusal = "doubt_before"
	NotInDoubt   Refusal = "not_in_doubt"  // it is not in doubt
	NotDismissed Refusal = "not_dismissed" // it is not dismissed
	// another document has its number: decided with this row alone, and not among many
	Alone        Refusal = "alone"
	HeldForIt    Refusal = "held_for_it" // another row is held because of this one: decide about that one first
	InQuarantine Refusal = "quarantine"  // too early: a request may still be executed
	// the person did not confirm that the platform was checked
	NotChecked Refusal = "not_checked"
	NotAnID    Refusal = "no_id" // the given id is not valid for this kind of record
	// records of this kind can be read back, so they cannot be adopted without an id
	NeedsID       Refusal = "needs_id"
	IDTaken       Refusal = "id_taken"        // another row has the id
	NotOnPlatform Refusal = "not_on_platform" // the platform does not know the id
	// what the platform has differs from what was sent or would be, or has nothing to compare
	Differs Refusal = "differs"

	SamePerson Refusal = "same_person" // who ordered it, or agreed already, cannot agree
	// one of those who agree could have acted as another: an account was created or changed by another
	NotApart Refusal = "not_apart"
	Lapsed   Refusal = "lapsed"    // nobody agreed in time
	NotAsked Refusal = "not_asked" // no approval with this number is waiting
)
