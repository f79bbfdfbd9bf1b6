package sync

import "github.com/safrasync/safrasync/trade"

// stopCode names why a job ended early, in `stopped.code` of the JSON.
type stopCode string

// The codes. Those of the first group end by themselves when a GET passes; those of the second end by `sync` by hand.
const (
	stopKey         stopCode = "api_key"         // 401 of the gateway
	stopKeyInside   stopCode = "api_key_inside"  // 401 of a service behind it
	stopModule      stopCode = "api_module"      // 403, module not contracted
	stopPermission  stopCode = "api_permission"  // 403 of the gateway
	stopAddress     stopCode = "api_address"     // 3xx, 404, 405 …: base_url, a proxy, or our program
	stopCertificate stopCode = "api_certificate" // TLS
	stopUnreachable stopCode = "api_unreachable" // not reached several times in a row
	stopThrottled   stopCode = "api_throttled"   // 429 for longer than a pass waits
	stopLedger      stopCode = "ledger"          // the state cannot store
	stopERP         stopCode = "erp"             // the ERP cannot be read
	stopColumns     stopCode = "columns"         // the query lacks a column of the mapping
	stopPlatform    stopCode = "platform"        // the ledger has sent to another platform

	stopReferences stopCode = "references"  // a de-para table of the ERP is empty all at once, or has a code with two ids
	stopEmptySweep stopCode = "empty_sweep" // the sweep found less than half of the known rows
	stopDoubts     stopCode = "in_doubt"    // several unknown outcomes in a row
	stopMalformed  stopCode = "malformed"   // the API could not read several requests in a row
	stopRefusals   stopCode = "refusals"    // the API refused many rows in a row for the same reason
	stopAnswers    stopCode = "answers"     // answers that are not the API's
	stopUneven     stopCode = "uneven"      // the sums do not add up (I9)
	stopLease      stopCode = "lease"       // another process has taken the job over
	stopPaused     stopCode = "paused"      // by a person
	stopInterrupt  stopCode = "interrupted" // by a signal

	// Brakes: they pause the job, which a release ends.
	stopNewRows    stopCode = "brake_new_rows"
	stopRetyped    stopCode = "brake_retyped"
	stopChangedKey stopCode = "brake_changed_key"
	stopNewJob     stopCode = "brake_new_job"
	stopMost       stopCode = "brake_most"
	stopCanary     stopCode = "brake_canary"
)

// pausing are the brakes: the job is paused, not stopped.
var pausing = []stopCode{stopNewRows, stopRetyped, stopChangedKey, stopNewJob, stopMost, stopCanary}

// endedByPerson are the stops that no probe ends: somebody looks, and runs the job by hand or releases it.
var endedByPerson = []stopCode{stopEmptySweep, stopDoubts, stopMalformed, stopRefusals, stopAnswers, stopUneven}

// stopError ends a run with a reason for people.
type stopError struct{ stop trade.Stop }

func (e *stopError) Error() string { return e.stop.Text }

// stop makes the error that ends this job's run.
func (r *jobRun) stop(code stopCode, text string) error {
	return &stopError{trade.Stop{Code: string(code), Text: text}}
}

func (r *jobRun) leaseLost() error {
	if err := r.keeper.why(); err != nil {
		return r.stop(stopLease, "the ledger does not say that the job is still ours: "+err.Error())
	}
	return r.stop(stopLease, "another process took the job over, or the ledger does not say that it is still ours; rows that were on the wire are settled when their answers arrive")
}

// interrupted is the stop of a run that a signal ended before anything of it left.
func interrupted() trade.Stop {
	return trade.Stop{Code: string(stopInterrupt), Text: "the run was interrupted; the next one goes on", All: true}
}
