package main

import (
	"context"
	"errors"
	"math"
	"os"
	"os/user"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

func newAcknowledgeCommand(a *App) *cobra.Command {
	var f actFlags
	cmd := a.command("acknowledge JOB KEY… --reason TEXT", "help.acknowledge", arity{2, -1},
		func(cmd *cobra.Command, args []string) error {
			return a.acknowledge(cmd.Context(), args[0], args[1:], f)
		})
	f.add(cmd)
	cmd.ValidArgsFunction = a.completeRows(trade.Accepted)
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
		Desk: store, JobDesk: store, Jobs: jobs, Now: now, Boot: state.Self().Boot, Clock: engine.SystemClock{},
		Limits: config.Limits(), Unknown: func(err error) bool { return errors.Is(err, state.ErrNotFound) },
	}, nil
}

// person is who orders an act at the command line.
func (a *App) person(f actFlags) engine.Person {
	account := "?"
	if u, err := user.Current(); err == nil {
		account = u.Username
	}
	who, from := whoFrom(loginName(a.Env, "/proc/self/loginuid"), account, thisHost(), f.as)
	return engine.Person{Name: who, From: from, Reason: strings.TrimSpace(f.reason)}
}

// loginName is who logged in, where runuser or sudo hide it: the kernel's login of the process, and
// without one (a container, a service) the user of sudo, which is anybody's to set. "" where
// neither is known.
func loginName(env func(string) (string, bool), file string) string {
	text, err := os.ReadFile(file)
	id := strings.TrimSpace(string(text))
	if n, parseErr := strconv.ParseUint(id, 10, 32); err == nil && parseErr == nil && n != math.MaxUint32 {
		if u, err := user.LookupId(id); err == nil {
			return u.Username
		}
		return "uid " + id
	}
	name, _ := env("SUDO_USER")
	return strings.TrimSpace(name)
}

// whoFrom is who an act is recorded of, and from where: "ana (safrasync)@host" is ana, who acted as
// safrasync. A name that was given with --as is what somebody says, and is marked so.
func whoFrom(login, account, host, as string) (who, from string) {
	who, from = account, account+"@"+host
	if login != "" && login != account {
		who, from = login, login+" ("+account+")@"+host
	}
	if as = strings.TrimSpace(as); as != "" && as != who {
		who, from = as, "--as: "+from
	}
	return who, from
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
	if keys, err = a.keysOf(config, job, keys); err != nil {
		return err
	}
	acts, err := a.openActs(ctx, toRead)
	if err != nil {
		return err
	}
	plan, err := acts.Acknowledge(ctx, job, keys)
	if err != nil {
		return err
	}
	return a.actOnRows(ctx, plan, rowActFlags{actFlags: f, count: -1}, "ack.plan")
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
