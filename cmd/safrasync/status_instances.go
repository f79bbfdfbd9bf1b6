package main

import (
	"context"
	"strings"
	"time"

	"github.com/safrasync/safrasync/state"
)

// instanceJSON is a process that may send, or ended without a word within the last hour. Until is
// on the ledger's clock.
type instanceJSON struct {
	Alive   bool      `json:"alive"`
	Command string    `json:"command"` // run or sync
	Since   time.Time `json:"since"`
	Until   time.Time `json:"until"` // it says again by then that it lives
	Version string    `json:"version"`
	Host    string    `json:"host"`
	PID     int       `json:"pid"`
	Jobs    []string  `json:"jobs"` // whose lease it holds
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

func (a *App) printInstances(instances []instanceJSON) {
	v := a.voice()
	for _, i := range instances {
		holds := ""
		if len(i.Jobs) > 0 {
			holds = v.text("status.holds", strings.Join(i.Jobs, ", "))
		}
		if i.Alive {
			a.show("status.instance", i.Host, i.Command, i.PID, i.Version, v.moment(i.Since), holds)
		} else {
			a.show("status.instance_lost", i.Host, i.Command, i.PID, v.moment(i.Until), holds)
		}
	}
}
