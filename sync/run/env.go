// What the runs of all jobs share.

package run

import (
	"fmt"
	"slices"
	"time"

	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/cluster"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// Env is what the runs of all jobs share.
type Env struct {
	Platform   Platform
	Clock      clock.Clock
	Owner      trade.Owner // this process
	Jobs       []*mapping.Job
	References []mapping.ReferenceSpec
	Limits     Limits
	Brakes     Brakes
	Zone       *time.Location // in which "today" is judged
	Observe    func(Progress)
	Member     *cluster.Member
}

// Configured returns a job of the configuration; nil: it has none of that name.
func (e *Env) Configured(name string) *mapping.Job {
	if i := slices.IndexFunc(e.Jobs, func(j *mapping.Job) bool { return j.Name() == name }); i >= 0 {
		return e.Jobs[i]
	}
	return nil
}

// Pick finds jobs by their names, in the order in which they run; none named: all.
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

// Job finds a job by its name.
func (e *Env) Job(name string) (*mapping.Job, error) {
	if job := e.Configured(name); job != nil {
		return job, nil
	}
	var names []string
	for _, j := range e.Jobs {
		names = append(names, j.Name())
	}
	return nil, fmt.Errorf("no job is named %q; the configuration has %s", name, names)
}
