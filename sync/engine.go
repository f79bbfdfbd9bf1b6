// The engine and what it is made of.

package sync

import (
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/cluster"
	"github.com/safrasync/safrasync/sync/discovery"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/rehearse"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Config is what the engine is made of.
type Config struct {
	Ledger     run.Ledger
	Source     run.Source
	Platform   run.Platform
	Clock      clock.Clock
	Owner      trade.Owner    // this process
	Version    string         // of the program, for other instances to see
	Several    bool           // instances on other machines may work on the ledger
	Jobs       []*mapping.Job // in the order in which they run
	References []mapping.ReferenceSpec
	Limits     run.Limits
	Brakes     run.Brakes     // the zero value never brakes
	Zone       *time.Location // in which "today" is judged
	Log        *zap.Logger
	Observe    func(run.Progress) // optional: told as the run goes on; called by one goroutine at a time
}

// LedgerOf returns the parts of a storage that the engine needs.
func LedgerOf[L interface {
	run.Rows
	run.Relatives
	run.Sums
	run.Tables
	run.Writes
	run.Queue
	run.Intents
	run.Runs
	run.Jobs
	cluster.Members
	cluster.Leases
}](l L) run.Ledger {
	return run.Ledger{
		Store: run.Store{Readable: run.Readable{Rows: l, Relatives: l, Sums: l, Tables: l}, Writes: l},
		Queue: l, Intents: l, Runs: l, Jobs: l, Members: l, Leases: l,
	}
}

// Engine runs jobs.
type Engine struct {
	Config
	crew *cluster.Member
	env  *run.Env
	*rehearse.Rehearsal
}

// New makes an engine. Everything of the configuration but Observe must be given.
func New(config Config) *Engine {
	if config.Observe == nil {
		config.Observe = func(run.Progress) {}
	}
	c := cluster.NewMember(cluster.Config{
		Several: config.Several, Clock: config.Clock, Ledger: config.Ledger.Members, Owner: config.Owner,
		Version: config.Version, Log: config.Log,
		PerSecond: config.Limits.RateLimit, Burst: config.Limits.MaxInFlight,
	})
	env := &run.Env{
		Platform: config.Platform, Clock: config.Clock, Owner: config.Owner, Jobs: config.Jobs,
		References: config.References, Limits: config.Limits, Brakes: config.Brakes, Zone: config.Zone,
		Observe: config.Observe, Member: c,
	}
	return &Engine{
		Config: config, crew: c, env: env,
		Rehearsal: rehearse.New(env, config.Ledger.Readable, config.Source, config.Log),
	}
}

// Options are what a pass is asked to do.
type Options struct {
	Sweep  bool // compare everything in scope, although none is due
	DryRun bool // read, map and check, but write nothing and send nothing
	// AnyHour sends outside the hours of a job too.
	AnyHour bool
	// Resync asks to judge rows again in which nothing has changed; nil does not.
	Resync *discovery.Resync
	// Keys are the only rows that may be sent, by job; a job that is not in it sends any. Limit is
	// how many rows of each job may be sent; 0 = all. Reading is as ever: what does not go stays
	// pending.
	Keys  map[string][]string
	Limit int
	// Planned is told of each row that a dry run would add or change, as it would be then; nil
	// tells nobody.
	Planned func(trade.Entry)
}

// Job finds a job by its name.
func (e *Engine) Job(name string) (*mapping.Job, error) { return e.env.Job(name) }
