// One run of one job, as its stages see it.

package run

import (
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/sync/cluster"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// Run is one run of one job, as its stages see it. A dry run has a ledger that cannot write, and no
// lease.
type Run struct {
	*Env
	Job    *mapping.Job
	Ledger Store // in a dry run: one that stores nothing
	Source Source
	Lease  trade.Lease
	Keeper *cluster.Keeper // renews the lease; nil in a dry run
	Now    time.Time       // start of the run; when new rows were first seen
	Eval   *mapping.Evaluator
	Report trade.RunReport
	Log    *zap.Logger
	Dry    *DryLedger // nil unless this is a dry run
}
