// The engine, its configuration and its options.

package sync

import (
	"go.uber.org/zap"

	"github.com/safrasync/safrasync/sync/cluster"
	"github.com/safrasync/safrasync/sync/discovery"
	"github.com/safrasync/safrasync/sync/dryrun"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// EngineParts is what an engine is made of.
type EngineParts struct {
	run.Env // but for Member
	Ledger  run.Ledger
	Source  run.Source
	Version string // the program's, shown to other instances
	Several bool   // instances on other machines may work on the ledger
	Log     *zap.Logger
}

// Engine runs jobs.
type Engine struct {
	EngineParts
	*dryrun.Rehearsal
}

// New returns an engine. All of config but Observe must be set.
func New(config EngineParts) *Engine {
	if config.Observe == nil {
		config.Observe = func(run.Progress) {}
	}
	config.Member = cluster.NewMember(cluster.Config{
		Several: config.Several, Clock: config.Clock, Ledger: config.Ledger, Owner: config.Owner,
		Version: config.Version, Log: config.Log,
		Limited: config.Limits.RateLimit > 0,
		Share:   func(living int) { config.Platform.Pace().Share(living) },
	})
	e := &Engine{EngineParts: config}
	e.Rehearsal = dryrun.New(&e.Env, config.Ledger, config.Source, config.Log)
	return e
}

// Options are the parameters of one pass.
type Options struct {
	Sweep  bool // compare everything in scope, even if no sweep is due
	DryRun bool // read, map and check, but write nothing and send nothing
	// RecordOnly reads and records, also of paused jobs, and sends nothing: the pass makes nothing
	// that could send.
	RecordOnly bool
	// AnyHour sends outside the hours of a job too.
	AnyHour bool
	// Resync, if not nil, selects rows to be judged again even if they have not changed.
	Resync *discovery.Resync
	// Keys are the only rows that may be sent, by job; a job that is not in the map may send any
	// row. Limit is how many rows each job may send; 0 means all. Neither changes what is read:
	// rows that are not sent stay pending.
	Keys  map[string][]string
	Limit int
	// RunID, if not "", is the id that the run of a pass over one job gets.
	RunID string
	// Planned, if not nil, is called by a dry run for each row that it would add or change, with
	// the entry as it would be then.
	Planned func(trade.Entry)
	// Progress, if not nil, is told the progress of a dry run, in place of Observe.
	Progress func(run.Progress)
}
