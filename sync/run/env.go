// One run of one job, and what the runs of all jobs share.

package run

import (
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/cluster"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// Env is what the runs of all jobs share.
type Env struct {
	Platform   Platform
	Clock      clock.Clock
	Owner      trade.Owner    // this process
	Jobs       []*mapping.Job // in the order in which they run
	References []mapping.ReferenceSpec
	Limits     Limits
	Brakes     Brakes         // the zero value never brakes
	Zone       *time.Location // in which today's date is determined
	Observe    func(Progress) // called during a run, by one goroutine at a time
	Member     *cluster.Member
}

// Configured returns the job with this name, or nil if the configuration has none.
func (e *Env) Configured(name string) *mapping.Job {
	if i := slices.IndexFunc(e.Jobs, func(j *mapping.Job) bool { return j.Name() == name }); i >= 0 {
		return e.Jobs[i]
	}
	return nil
}

// Pick returns the named jobs in the order in which they run; all jobs if names is empty. An
// unknown name is an error.
func (e *Env) Pick(names []string) ([]*mapping.Job, error) {
	if len(names) == 0 {
		return e.Jobs, nil
	}
	for _, name := range names {
		if _, err := e.Job(name); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(slices.Clone(e.Jobs),
		func(j *mapping.Job) bool { return !slices.Contains(names, j.Name()) }), nil
}

// Job returns the job with this name; an unknown name is an error.
func (e *Env) Job(name string) (*mapping.Job, error) {
	if job := e.Configured(name); job != nil {
		return job, nil
	}
	var names []string
	for _, j := range e.Jobs {
		names = append(names, j.Name())
	}
	return nil, phrase.Errorf("no job is named %q; the configuration has %s", name, names)
}

// Progress is how far a job has come.
type Progress struct {
	Job   string
	Phase Phase
	Read  int // rows read so far
	Done  int // entries settled so far
	Total int // entries that were due when sending began; it may grow
	Note  string
}

// Phase is the current step of a job.
type Phase string

// The phases of a run.
const (
	Reading Phase = "reading"
	Sending Phase = "sending"
	Resting Phase = "waiting" // the API asked to wait; Note says how long
	Done    Phase = "done"
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
