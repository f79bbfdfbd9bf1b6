// The engine, its configuration and its options.

package sync

import (
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/cluster"
	"github.com/safrasync/safrasync/sync/discovery"
	"github.com/safrasync/safrasync/sync/dryrun"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// EngineParts is what an engine is made of.
type EngineParts struct {
	Ledger     run.Ledger
	Source     run.Source
	Platform   run.Platform
	Clock      clock.Clock
	Owner      trade.Owner    // this process
	Version    string         // the program's, shown to other instances
	Several    bool           // instances on other machines may work on the ledger
	Jobs       []*mapping.Job // in the order in which they run
	References []mapping.ReferenceSpec
	Limits     run.Limits
	Brakes     run.Brakes     // the zero value never brakes
	Zone       *time.Location // in which today's date is determined
	Log        *zap.Logger
	Observe    func(run.Progress) // optional: called during a run, by one goroutine at a time
}

// Engine runs jobs.
type Engine struct {
	EngineParts
	crew *cluster.Member
	env  *run.Env
	*dryrun.Rehearsal
}

// New returns an engine. All of config but Observe must be set.
func New(config EngineParts) *Engine {
	if config.Observe == nil {
		config.Observe = func(run.Progress) {}
	}
	c := cluster.NewMember(cluster.Config{
		Several: config.Several, Clock: config.Clock, Ledger: config.Ledger, Owner: config.Owner,
		Version: config.Version, Log: config.Log,
		Limited: config.Limits.RateLimit > 0,
		Share:   func(living int) { config.Platform.Pace().Share(living) },
	})
	env := &run.Env{
		Platform: config.Platform, Clock: config.Clock, Owner: config.Owner, Jobs: config.Jobs,
		References: config.References, Limits: config.Limits, Brakes: config.Brakes, Zone: config.Zone,
		Observe: config.Observe, Member: c,
	}
	return &Engine{
		EngineParts: config, crew: c, env: env,
		Rehearsal: dryrun.New(env, config.Ledger, config.Source, config.Log),
	}
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

// Job finds a job by its name.
func (e *Engine) Job(name string) (*mapping.Job, error) { return e.env.Job(name) }
