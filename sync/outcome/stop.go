// The codes of stops, and the error that carries one.

package outcome

import "github.com/safrasync/safrasync/trade"

// StopCode is the reason why a job ended early; `stopped.code` in the JSON.
type StopCode string

// The codes. sync/circuit.go decides which of the stops end by themselves; those in EndedByPerson
// end when a person runs the job.
const (
	StopKey         StopCode = "api_key"         // 401 of the gateway
	StopKeyInside   StopCode = "api_key_inside"  // 401 of a service behind it
	StopModule      StopCode = "api_module"      // 403, module not contracted
	StopPermission  StopCode = "api_permission"  // 403 of the gateway
	StopAddress     StopCode = "api_address"     // 3xx, 404, 405 …: base_url, a proxy, or our program
	StopCertificate StopCode = "api_certificate" // TLS
	StopUnreachable StopCode = "api_unreachable" // not reached several times in a row
	StopThrottled   StopCode = "api_throttled"   // 429 for longer than a pass waits
	StopLedger      StopCode = "ledger"          // the ledger cannot store
	StopERP         StopCode = "erp"             // the ERP cannot be read
	StopColumns     StopCode = "columns"         // the query lacks a column of the mapping
	StopPlatform    StopCode = "platform"        // the ledger has sent to another platform

	// a de-para table of the ERP became empty at once, or has a code with two ids
	StopReferences StopCode = "references"
	StopEmptySweep StopCode = "empty_sweep" // the sweep found less than half of the known rows
	StopDoubts     StopCode = "in_doubt"    // several unknown outcomes in a row
	StopMalformed  StopCode = "malformed"   // the API could not read several requests in a row
	StopRefusals   StopCode = "refusals"    // the API refused many rows in a row for the same reason
	StopAnswers    StopCode = "answers"     // answers that are not the API's
	StopUneven     StopCode = "uneven"      // the sums do not add up (I9)
	StopLease      StopCode = "lease"       // another process has taken the job over
	StopPaused     StopCode = "paused"      // by a person
	StopInterrupt  StopCode = "interrupted" // by a signal

	// Brakes: they pause the job until a person releases it.
	StopNewRows    StopCode = "brake_new_rows"
	StopRetyped    StopCode = "brake_retyped"
	StopChangedKey StopCode = "brake_changed_key"
	StopNewJob     StopCode = "brake_new_job"
	StopMost       StopCode = "brake_most"
	StopCanary     StopCode = "brake_canary"
	// set by `rebuild --new-journal`, not by a run
	StopNewJournal StopCode = "brake_new_journal"
	// nobody gave a sign of life for hours: the ledger may be an old copy
	StopAbsent StopCode = "brake_absent"

	// the ledger's witness cannot be read: the ledger may be an old copy. It ends by itself, or by a
	// person's release.
	StopWitness StopCode = "witness"
)

// Pausing are the stops of brakes: they pause the job.
var Pausing = []StopCode{
	StopNewRows, StopRetyped, StopChangedKey, StopNewJob, StopMost, StopCanary, StopNewJournal, StopAbsent,
}

// MayDouble are the brakes whose rows may have been sent before: after a release they may be made a
// second time.
var MayDouble = []StopCode{StopRetyped, StopChangedKey, StopNewJob, StopNewJournal, StopAbsent, StopWitness}

// EndedByPerson are the stops that do not end by themselves: a person must check the cause, and run
// the job by hand or release it.
var EndedByPerson = []StopCode{StopEmptySweep, StopDoubts, StopMalformed, StopRefusals, StopAnswers, StopUneven}

// StopError ends a run with a reason for people.
type StopError struct{ Stop trade.Stop }

// Error returns the reason, for IT.
func (e *StopError) Error() string { return e.Stop.Text() }

// Sentence returns the reason, for people.
func (e *StopError) Sentence() trade.Sentence { return e.Stop.Why }

// Interrupted returns the stop of a run that a signal ended.
func Interrupted() trade.Stop {
	return trade.Stop{Code: string(StopInterrupt), Why: trade.Say("stop.interrupted"), All: true}
}
