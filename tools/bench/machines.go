package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/safrasync/safrasync/internal/throwaway"
)

// fleets are how many instances of `safrasync run` work on one ledger in mMachines, each with eachInFlight POSTs on the wire.
var fleets = []int{1, 2, 4}

// eachInFlight is so small that two cores are not what limits four instances and an API on the same computer.
const eachInFlight = 4

// machines measures how the rows of one job spread over several instances: rows that come into the ERP while all of them wait, beside the limit with as many connections.
func (b *bench) machines(ctx context.Context, rep int) error {
	for _, n := range fleets {
		base := result{Measure: mMachines, Rep: rep, LatencyMS: int(slow.Milliseconds()), Rows: min(b.rows, 1000*n*eachInFlight), Instances: n}
		limit, err := b.limit(ctx, base, slow, n*eachInFlight)
		if err := b.add(limit, err); err != nil {
			return err
		}
		r, err := b.fleet(ctx, base)
		r.APIRatio = limit.APISeconds / r.APISeconds
		r.Ratio = r.APIRatio
		if err := b.add(r, err); err != nil {
			return err
		}
	}
	return nil
}

// fleet starts the instances on a ledger of their own, and gives the ERP its rows when all of them live. Its seconds are the API's: from the first POST to the last answer.
func (b *bench) fleet(ctx context.Context, r result) (_ result, err error) {
	a, err := startAPI(apiOptions{latency: slow, tell: r.Rows})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, a.stop()) }()
	erp, err := b.newERP(ctx, 0)
	if err != nil {
		return r, err
	}
	first, c, err := b.ours("postgres", a.url, erp)
	if err != nil {
		return r, err
	}
	r.Who = c.name
	if u, err := measure(ctx, first.sync(), filepath.Join(c.folder, "log"), nil); err != nil || u.Exit != 0 { // one makes the ledger
		return r, errors.Join(err, fmt.Errorf("sync ended with %d: %s", u.Exit, u.Err))
	}
	var running []*throwaway.Process
	stop := func() (err error) {
		for _, p := range running {
			err = errors.Join(err, p.Stop(syscall.SIGTERM, "safrasync run"))
		}
		running = nil
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	before, _, err := b.cpu(c)
	if err != nil {
		return r, err
	}
	var commands []*exec.Cmd
	for range r.Instances {
		p := *first
		p.dir, p.inFlight, p.schedule = b.folder(), eachInFlight, "@every 1s"
		if err := p.configure(false); err != nil {
			return r, err
		}
		cmd := p.command("run")
		process, err := throwaway.Spawn(cmd, syscall.SIGKILL, nil)
		if err != nil {
			return r, err
		}
		running, commands = append(running, process), append(commands, cmd)
	}
	if err := awaitInstances(ctx, c.ledger, r.Instances); err != nil {
		return r, err
	}
	if err := addRows(ctx, erp, 1, r.Rows, time.Minute); err != nil {
		return r, err
	}
	select {
	case <-a.reached:
	case <-ctx.Done():
		return r, ctx.Err()
	case <-time.After(fleetPatience):
		return r, fmt.Errorf("%d instances did not send %d rows in %s", r.Instances, r.Rows, fleetPatience)
	}
	if err := stop(); err != nil { // what is on the wire is awaited and settled
		return r, err
	}
	after, _, err := b.cpu(c)
	if err != nil {
		return r, err
	}
	for _, cmd := range commands {
		r.CPU += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds() / float64(r.Rows) * 1000
	}
	r.LedgerCPU = (after - before) / float64(r.Rows) * 1000
	s, err := a.log(ctx)
	if err != nil {
		return r, err
	}
	book, err := c.book(ctx)
	r.Seconds, r.APISeconds, r.agreement = s.Seconds, s.Seconds, judge(1, r.Rows, s, book)
	if err == nil && r.err(c.name) == nil { // otherwise somebody wants to look
		err = errors.Join(b.discard(c), b.erpServer.Drop(valuesOf(erp)["dbname"]))
	}
	return r, err
}

// fleetPatience is longer than any rate that would be worth a figure.
const fleetPatience = 10 * time.Minute

// awaitInstances waits until so many instances have said in the ledger that they live.
func awaitInstances(ctx context.Context, ledger string, n int) error {
	return withDB(ledger, func(db *sql.DB) error {
		look := time.NewTicker(100 * time.Millisecond)
		defer look.Stop()
		limit := time.After(time.Minute)
		for {
			var alive int
			if err := db.QueryRowContext(ctx, `SELECT count(*) FROM instance WHERE command = 'run'`).Scan(&alive); err != nil {
				return err
			}
			if alive == n {
				return nil
			}
			select {
			case <-look.C:
			case <-limit:
				return fmt.Errorf("%d of %d instances live after a minute", alive, n)
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
}

// scheduled is a job's line of the configuration.
func scheduled(schedule string) string {
	if schedule == "" {
		return ""
	}
	return "    schedule: \"" + strings.ReplaceAll(schedule, `"`, `\"`) + "\"\n"
}
