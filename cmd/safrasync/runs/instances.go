package runs

import (
	"context"
	"strings"
	"time"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/state"
)

// instanceJSON is a process that may send, or one that died within the last hour without reporting
// its end. Until is on the ledger's clock.
type instanceJSON struct {
	Alive   bool      `json:"alive"`
	Command string    `json:"command"` // run or sync
	Since   time.Time `json:"since"`
	Until   time.Time `json:"until"` // by then it must report again
	Version string    `json:"version"`
	Host    string    `json:"host"`
	PID     int       `json:"pid"`
	Jobs    []string  `json:"jobs"` // jobs whose lease it holds
}

func readInstances(ctx context.Context, store *state.Store) ([]instanceJSON, error) {
	all, err := store.Instances(ctx)
	if err != nil {
		return nil, err
	}
	leases, err := store.Leases(ctx)
	out := make([]instanceJSON, len(all))
	for i, in := range all {
		out[i] = instanceJSON{
			Alive: !in.Dead, Command: in.Command, Since: in.Started, Until: in.Until, Version: in.Version,
			Host: in.Owner.Host, PID: in.Owner.PID, Jobs: []string{},
		}
		for _, l := range leases {
			if l.Owner.Instance == in.Owner.Instance {
				out[i].Jobs = append(out[i].Jobs, l.Job)
			}
		}
	}
	return out, err
}

func printInstances(a *cli.App, instances []instanceJSON) {
	v := a.Voice()
	for _, i := range instances {
		holds := ""
		if len(i.Jobs) > 0 {
			holds = v.Text("status.holds", strings.Join(i.Jobs, ", "))
		}
		if i.Alive {
			a.Show("status.instance", i.Host, i.Command, i.PID, i.Version, v.Moment(i.Since), holds)
		} else {
			a.Show("status.instance_lost", i.Host, i.Command, i.PID, v.Moment(i.Until), holds)
		}
	}
}
