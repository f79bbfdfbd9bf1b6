// One run of one job, as its stages see it.

package run

import (
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/sync/cluster"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// Run is one run of one job, as its stages see it. A dry run is made with a ledger that cannot
// write, and without a lease.
type Run struct {
	Env    *Env
	Job    *mapping.Job
	Ledger Store // of a dry run: one that stores nothing
	Source Source
	Lease  trade.Lease
	Keeper *cluster.Keeper // renews the lease; nil in a dry run
	Now    time.Time       // of the run's start: one time for everything that discovery writes
	Eval   *mapping.Evaluator
	Report trade.RunReport
	Log    *zap.Logger
	Dry    *DryLedger // nil: the run stores and sends

	Recorded bool // the reading has stored something of a row
}
