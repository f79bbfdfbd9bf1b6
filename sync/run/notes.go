// Notes and alarms of a run.

package run

import (
	"go.uber.org/zap"

	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/trade"
)

// Note adds a note for IT to the report and the log.
func (r *Run) Note(note trade.Sentence) {
	r.Report.Notes = append(r.Report.Notes, note)
	r.Log.Warn("note", zap.Stringer("note", note))
}

// Alarm adds alarms about late answers to the report and the log; the ledger has them in its audit.
func (r *Run) Alarm(alarms []trade.Alarm) {
	r.Report.Alarms = append(r.Report.Alarms, alarms...)
	for _, a := range alarms {
		r.Log.Warn("alarm", zap.String("kind", string(a.Kind)), zap.String("attempt", a.Attempt),
			zap.Stringer("reason", a.Sentence()))
	}
}

// PausedStop returns the stop of a job that a person or a brake has paused.
func PausedStop(status trade.JobStatus) *trade.Stop {
	if status.Stop != nil {
		return status.Stop
	}
	return &trade.Stop{Code: string(outcome.StopPaused), Why: trade.Say("stop.paused")}
}
