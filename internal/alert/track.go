package alert

import (
	"time"

	"github.com/safrasync/safrasync/trade"
)

// runMemory holds the results of a job's last runs. After a start it is read from the ledger again.
// A zero field is not known.
type runMemory struct {
	good      time.Time        // end of the last run that did its work
	swept     *trade.RunReport // the last complete sweep
	stopped   *trade.RunReport // the last one with a stop that only a person ends
	overruled time.Time        // end of the last run with a late answer that ended a person's decision
	answers   int              // number of such answers in that run
}

// remembered is how far back runs are read after a start. overlap is how much consecutive readings
// overlap, because a run is stored a moment after its end.
const (
	remembered = 48 * time.Hour
	overlap    = 5 * time.Minute
)
