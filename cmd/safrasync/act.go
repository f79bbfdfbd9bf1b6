package main

import (
	"context"
	"errors"
	"os"
	"os/user"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

func newAcknowledgeCommand(a *App) *cobra.Command {
	var f actFlags
	cmd := a.command("acknowledge JOB KEY… --reason TEXT", helpAcknowledge, arity{2, -1}, func(cmd *cobra.Command, args []string) error {
		return a.acknowledge(cmd.Context(), args[0], args[1:], f)
	})
	f.add(cmd)
	return cmd
}

// openActs wires the acts of people. A plan needs no more than to read.
func (a *App) openActs(ctx context.Context, how access) (*engine.Acts, error) {
	config, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	jobs, err := compileJobs(config)
	if err != nil {
		return nil, err
	}
	store, err := a.openLedger(ctx, how)
	if err != nil {
		return nil, err
	}
	return &engine.Acts{
		Desk: store, Jobs: jobs, Now: now, Unknown: func(err error) bool { return errors.Is(err, state.ErrNotFound) },
	}, nil
}

// person is who orders an act at the command line.
func (f actFlags) person() engine.Person {
	name, host := "?", "?"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if h, err := os.Hostname(); err == nil {
		host = h
	}
	who := strings.TrimSpace(f.as)
	if who == "" {
		who = name
	}
	return engine.Person{Name: who, From: name + "@" + host, Reason: strings.TrimSpace(f.reason)}
}

// acknowledge clears the flags of rows that a person has dealt with.
func (a *App) acknowledge(ctx context.Context, job string, keys []string, f actFlags) error {
	config, err := a.loadConfig()
	if err != nil {
		return err
	}
	if err := a.needReason(f); err != nil {
		return err
	}
	for i := range keys {
		if keys[i], err = a.checkKey(config, job, keys[i]); err != nil {
			return err
		}
	}
	acts, err := a.openActs(ctx, toRead)
	if err != nil {
		return err
	}
	plan, err := acts.Acknowledge(ctx, job, keys)
	if err != nil {
		return err
	}
	return a.actOnRows(ctx, plan, f, ackPlan)
}

// actOnRows shows what an act would do to rows, asks, and does it. It fails when a row was refused.
func (a *App) actOnRows(ctx context.Context, plan engine.RowPlan, f actFlags, title phrase) error {
	a.tell(title)
	v := a.voice()
	for _, s := range plan.Steps {
		if s.Refused != engine.NotRefused {
			a.tell(actRefused, plan.Job, s.Key, a.text(refusalWords[s.Refused]))
			continue
		}
		a.tell(actRow, plan.Job, s.Key, v.reason(s.Before))
		for _, text := range v.sinceSent(s.Before, s.Differences) {
			a.tell(actLine, text)
		}
	}
	if plan.Possible() {
		if err := a.confirm(f.yes); err != nil {
			return err
		}
		acts, err := a.openActs(ctx, toWrite)
		if err != nil {
			return err
		}
		if plan, err = acts.Do(ctx, plan, f.person()); err != nil {
			return err
		}
	} else {
		a.tell(actNothing)
	}
	return a.tellRows(plan)
}

// rowActJSON is one line of what an act on rows says.
type rowActJSON struct {
	Act     string             `json:"act"`
	Job     string             `json:"job"`
	Key     string             `json:"key"`
	Done    bool               `json:"done"`
	Refused *string            `json:"refused"` // why not; null when it was done
	State   *trade.State       `json:"state"`   // where the row stands; null for one that is not known
	Flags   []trade.Flag       `json:"flags"`
	Changes []trade.Difference `json:"changes"` // what the person was shown
}

func (a *App) tellRows(plan engine.RowPlan) error {
	refused := false
	for _, s := range plan.Steps {
		done := s.Refused == engine.NotRefused
		entry := s.Before
		if done {
			entry = s.After
		}
		refused = refused || !done
		switch {
		case a.asJSON:
			err := a.printJSON(rowActJSON{
				Act: plan.Act, Job: plan.Job, Key: s.Key, Done: done, Refused: orNull(string(s.Refused)), State: orNull(entry.State),
				Flags: orEmpty(entry.Flags), Changes: orEmpty(s.Differences),
			})
			if err != nil {
				return err
			}
		case done:
			a.show(actDone, plan.Job, s.Key)
		case s.Refused == engine.Moved: // the others were told with the plan
			a.show(actRefused, plan.Job, s.Key, a.text(refusalWords[s.Refused]))
		}
	}
	if refused {
		return &exitError{exitFailed}
	}
	return nil
}

// differences tells where a row of the ERP is no longer what was sent.
func (a *App) differences(ctx context.Context, store *state.Store, entry trade.Entry) ([]trade.Difference, error) {
	if entry.Now == nil {
		return nil, nil
	}
	jobs, err := compileJobs(a.config)
	if err != nil {
		return nil, err
	}
	refs, err := engine.Codes(ctx, store)
	if err != nil {
		return nil, err
	}
	var job *engine.Job
	for _, j := range jobs {
		if j.Name() == entry.Job {
			job = j
		}
	}
	return engine.Differences(job, entry, refs), nil
}
