package sync

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/trade"
)

// Config is what the engine is made of.
type Config struct {
	Ledger     Ledger
	Source     Source
	Platform   Platform
	Clock      Clock
	Owner      trade.Owner // this process
	Version    string      // of the program, for other instances to see
	Several    bool        // instances on other machines may work on the ledger
	Jobs       []*Job      // in the order in which they run
	References []ReferenceSpec
	Limits     Limits
	Brakes     Brakes         // the zero value never brakes
	Zone       *time.Location // in which "today" is judged
	Log        *zap.Logger
	Observe    func(Progress) // optional: told as the run goes on; called by one goroutine at a time
}

// Progress tells how far a job has come.
type Progress struct {
	Job   string
	Phase Phase
	Read  int // rows read so far
	Done  int // entries settled so far
	Total int // entries that were due when sending began; it may grow
	Note  string
}

// Phase is the step that a job is at.
type Phase string

// The phases of a run.
const (
	Reading Phase = "reading"
	Sending Phase = "sending"
	Resting Phase = "waiting" // the API asked to wait; Note says how long
	Done    Phase = "done"
)

// Engine runs jobs.
type Engine struct {
	Config
	crew *crew
}

// New makes an engine. Everything of the configuration but Observe must be given.
func New(config Config) *Engine {
	if config.Observe == nil {
		config.Observe = func(Progress) {}
	}
	return &Engine{config, newCrew(config)}
}

// Options are what a pass is asked to do.
type Options struct {
	Sweep  bool // compare everything in scope, although none is due
	DryRun bool // read, map and check, but write nothing and send nothing
	// AnyHour sends outside the hours of a job too.
	AnyHour bool
	// Resync asks to judge rows again in which nothing has changed; nil does not.
	Resync *Resync
	// Keys are the only rows that may be sent, by job; a job that is not in it sends any. Limit is how many rows of each job may be sent; 0 = all. Reading is as ever: what
	// does not go stays pending.
	Keys  map[string][]string
	Limit int
	// Planned is told of each row that a dry run would add or change, as it would be then; nil tells nobody.
	Planned func(trade.Entry)
}

func (e *Engine) pick(names []string) ([]*Job, error) {
	if len(names) == 0 {
		return e.Jobs, nil
	}
	var out []*Job
	for _, job := range e.Jobs {
		if slices.Contains(names, job.Name()) {
			out = append(out, job)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(e.Jobs, func(j *Job) bool { return j.Name() == name }) {
			return nil, fmt.Errorf("no job is named %q; the configuration has %s", name, e.jobNames())
		}
	}
	return out, nil
}

func (e *Engine) jobNames() []string {
	var names []string
	for _, j := range e.Jobs {
		names = append(names, j.Name())
	}
	return names
}

// Job finds a job by its name.
func (e *Engine) Job(name string) (*Job, error) {
	jobs, err := e.pick([]string{name})
	if err != nil {
		return nil, err
	}
	return jobs[0], nil
}

// jobRun is one pass of one job.
type jobRun struct {
	*Engine
	job    *Job
	ledger Ledger // the ledger, or one that cannot write
	source Source
	lease  trade.Lease
	now    time.Time // of the run's start: one time for everything that discovery writes
	eval   *evaluator
	report trade.RunReport
	log    *zap.Logger
	dry    *dryLedger
	keeper *leaseKeeper
	send   *submission // nil when nothing may be sent
	ration *ration     // which rows it may send, and how many
	err    error       // why the run ended before its work was done

	proved   []trade.Tally    // the kept sums at the beginning of a sweep, where they were those of the entries; nil: not proved
	differ   map[int64]before // rows that were sent and have changed in this reading, by number
	recorded bool             // the reading has stored something of a row

	lookups      map[string]trade.Lookup // what the platform answered to questions by document, by code
	pausedBefore bool                    // it did not begin, because the job is paused
	anyHour      bool                    // it sends outside the job's hours too

	room     trade.Freight  // what this run may send, with `most:`
	released *trade.Freight // what a person has let it send beyond that
	trial    *trade.Canary  // what went under a mapping that nobody has confirmed; nil when the mapping is confirmed

	alone   bool          // no other job has entries of the kind that it sends, when that was asked last
	idle    bool          // its last turn found nothing that may go now
	stopped func(*jobRun) // told of a stop before it is stored, and may add until when it holds; optional
}

func stopText(s *trade.Stop) string {
	if s == nil {
		return "no reason is stored"
	}
	return s.Text
}

// discoverAll reads: references, then the ERP, then what the references and the parents changed, then what only the platform can tell. Then the
// brakes judge what came.
func (r *jobRun) discoverAll(ctx context.Context, opts Options) error {
	if err := r.loadReferences(ctx); err != nil {
		return err
	}
	if err := r.read(ctx, opts); err != nil {
		return err
	}
	if err := r.refresh(ctx); err != nil {
		return err
	}
	if _, err := r.adoptOrphans(ctx); err != nil {
		return err
	}
	if err := r.lookUp(ctx); err != nil {
		return err
	}
	if err := r.brake(ctx); err != nil {
		return err
	}
	return r.reviveOthers(ctx) // last: it is known by now of which space the job's keys are
}
