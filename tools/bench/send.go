package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// flushMore is the additional time of a flush in mFsync.
const flushMore = 2 * time.Millisecond

// sends measures each contestant once at a latency, next to the limit.
func (b *bench) sends(ctx context.Context, rep int, measure string, latency time.Duration) error {
	base := result{Measure: measure, Rep: rep, LatencyMS: int(latency.Milliseconds()), Rows: b.rows}
	limit, err := b.limit(ctx, base, latency, b.inFlight)
	if err := b.add(limit, err); err != nil {
		return err
	}
	for _, name := range names {
		if !b.wanted(name) || !ours(name) && (measure == mFsync || rep > 0 && !b.full) {
			continue
		}
		of := base
		if name == "script" {
			of.Rows = max(1, of.Rows/20) // rows go one after another, so its rate is the same, and the run stays short
		}
		r, err := b.send(ctx, of, name, latency)
		r.Ratio = limit.Seconds / float64(limit.Rows) / (r.Seconds / float64(r.Rows))
		r.APIRatio = limit.APISeconds / float64(limit.Rows) / (r.APISeconds / float64(r.Rows))
		if err := b.add(r, err); err != nil {
			return err
		}
	}
	return nil
}

// slowFlush makes every fsync and fdatasync of a command take flushMore longer, and lists them in a
// file. Nothing else in the command is slower, because strace makes the kernel stop it at these
// calls only.
func slowFlush(cmd *exec.Cmd, list string) error {
	strace, err := exec.LookPath("strace")
	if err != nil {
		return fmt.Errorf("strace lets flushes take longer, and .ci/need-strace installs it: %w", err)
	}
	cmd.Args = append([]string{
		strace, "-D", "-qq", "-f", "--seccomp-bpf", "-e", "trace=fsync,fdatasync", "-e", "signal=none",
		"-e", fmt.Sprintf("inject=fsync,fdatasync:delay_enter=%d", flushMore.Microseconds()), "-o", list, cmd.Path,
	}, cmd.Args[1:]...)
	cmd.Path = strace
	return nil
}

// limit measures the physical limit.
func (b *bench) limit(ctx context.Context, r result, latency time.Duration, connections int) (_ result, err error) {
	a, err := startAPI(apiOptions{latency: latency})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, a.stop()) }()
	r.Who, r.Ratio, r.APIRatio = "limit", 1, 1
	cmd, err := part("-url", a.url, "-rows", fmt.Sprint(r.Rows), "-in-flight", fmt.Sprint(connections), "limit")
	if err != nil {
		return r, err
	}
	u, err := measure(ctx, cmd, filepath.Join(b.folder(), "log"), nil)
	if err != nil {
		return r, err
	}
	var t told
	if err := json.Unmarshal(u.Out, &t); err != nil {
		return r, fmt.Errorf("the limit: %w: %s", err, u.Err)
	}
	s, err := a.log(ctx)
	r.Seconds, r.APISeconds, r.Process, r.CPU, r.PeakMiB = t.Seconds, s.Seconds, u.Seconds,
		t.CPU/float64(r.Rows)*1000, u.PeakMiB
	r.agreement = judge(1, r.Rows, s, nil)
	return r, errors.Join(err, r.err("the limit"))
}

// send measures one contestant that sends all rows of an ERP in one pass.
func (b *bench) send(ctx context.Context, r result, name string, latency time.Duration) (_ result, err error) {
	a, err := startAPI(apiOptions{latency: latency})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, a.stop()) }()
	erp, err := b.erp(ctx, r.Rows)
	if err != nil {
		return r, err
	}
	c, err := b.contestant(ctx, name, a.url, erp)
	if err != nil {
		return r, err
	}
	defer func() {
		if err == nil && r.err(c.name) == nil { // otherwise keep it for analysis
			err = b.discard(c)
		}
	}()
	cmd := c.pass()
	if r.Measure == mFsync {
		if err := c.slowServer(ctx); err != nil {
			return r, err
		}
		flushes := filepath.Join(c.folder, "flushes")
		if err := slowFlush(cmd, flushes); err != nil {
			return r, err
		}
		defer func() {
			if text, readErr := os.ReadFile(flushes); err == nil && (readErr != nil || len(text) == 0) {
				err = errors.Join(fmt.Errorf("%s never flushed: nothing was slowed", c.name), readErr)
			}
		}()
	}
	if err := b.run(ctx, c, cmd, &r); err != nil {
		return r, err
	}
	s, err := a.log(ctx)
	if err != nil {
		return r, err
	}
	book, err := c.book(ctx)
	r.APISeconds, r.agreement = s.Seconds, judge(1, r.Rows, s, book)
	return r, err
}

// run runs one pass of a contestant, which must succeed, and records its cost.
func (b *bench) run(ctx context.Context, c contestant, cmd *exec.Cmd, r *result) error {
	r.Who = c.name
	ledgerBefore, erpBefore, err1 := b.cpu(c)
	u, err := measure(ctx, cmd, filepath.Join(c.folder, "log"), nil)
	ledgerAfter, erpAfter, err2 := b.cpu(c)
	if err := errors.Join(err, err1, err2); err != nil {
		return err
	}
	if u.Exit != 0 {
		return fmt.Errorf("%s ended with %d: %.2000s\n%s", c.name, u.Exit, u.Out, u.Err)
	}
	thousands := float64(r.Rows) / 1000
	r.Seconds, r.Process, r.CPU, r.PeakMiB = u.Seconds, u.Seconds, u.CPU/thousands, u.PeakMiB
	r.LedgerCPU, r.ERPCPU = (ledgerAfter-ledgerBefore)/thousands, (erpAfter-erpBefore)/thousands
	return c.check(u, r)
}
