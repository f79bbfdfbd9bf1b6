package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// profiles prints where the processor's time goes while the program sends at each latency: what a row costs then is not the same, since groups are smaller. What is profiled is the same source, built with another main around it.
func (b *bench) profiles(ctx context.Context, latencies []time.Duration) error {
	binary, err := b.profiled(ctx)
	if err != nil {
		return err
	}
	for _, latency := range latencies {
		for _, name := range names {
			if !ours(name) || !b.wanted(name) {
				continue
			}
			if err := b.profile(ctx, name, binary, latency); err != nil {
				return err
			}
		}
	}
	return nil
}

// step is a function and what it calls, in a profile.
type step struct {
	name    string
	seconds float64 // of the processor
	share   float64 // of all
}

// profileLine is a line of pprof's list: flat, flat %, sum %, cumulated, cumulated %, name.
var profileLine = regexp.MustCompile(`^\s*[\d.]+(?:s|ms)?\s+[\d.]+%\s+[\d.]+%\s+([\d.]+)ms\s+([\d.]+)%\s+(\S+)`)

// outside are the functions of others that say something about ours.
var outside = []string{
	"net/http.(*Transport).RoundTrip", "net/http.(*persistConn).readLoop", "net/http.(*persistConn).writeLoop", "encoding/json.Marshal", "encoding/json.Unmarshal",
	"database/sql.(*Tx).ExecContext", "modernc.org/sqlite/lib.Xsqlite3_step", "modernc.org/sqlite/lib._unixSync", "os.(*File).Sync",
	"runtime.mallocgc", "runtime.gcBgMarkWorker", "runtime.schedule", "internal/runtime/syscall/linux.Syscall6",
}

// mostSteps is how many of our own functions are listed.
const mostSteps = 20

// stepsOf lists what a profile says of our functions, and of some of others.
func stepsOf(ctx context.Context, binary, file string) (steps []step, err error) {
	out, err := exec.CommandContext(ctx, "go", "tool", "pprof", "-top", "-cum", "-unit=ms", "-nodecount=5000", "-nodefraction=0", binary, file).Output()
	if err != nil {
		return nil, fmt.Errorf("reading the profile: %w", err)
	}
	return parseSteps(string(out))
}

// parseSteps reads pprof's list.
func parseSteps(list string) (steps []step, err error) {
	own, last := 0, ""
	for line := range strings.Lines(list) {
		m := profileLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name, ours := strings.CutPrefix(m[3], "github.com/safrasync/safrasync/")
		if ours {
			if own == mostSteps || m[1] == last || strings.ContainsAny(name, "[-") || strings.Contains(name, ".func") {
				continue // a closure, or one that only calls the one before
			}
			own, last = own+1, m[1]
		} else if !slices.Contains(outside, name) {
			continue
		}
		ms, err1 := strconv.ParseFloat(m[1], 64)
		share, err2 := strconv.ParseFloat(m[2], 64)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		steps = append(steps, step{name, ms / 1000, share / 100})
	}
	if own == 0 {
		return nil, fmt.Errorf("the profile names no function of ours: %.500s", list)
	}
	return steps, nil
}

// profiled builds the program with a main that keeps a profile.
func (b *bench) profiled(ctx context.Context) (string, error) {
	root, err := filepath.Abs("..")
	if err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(root, "cmd", "safrasync", "main.go"): filepath.Join(root, "tools", "bench", "testdata", "main.go.txt"),
	}})
	if err != nil {
		return "", err
	}
	name, binary := filepath.Join(b.dir, "overlay.json"), filepath.Join(b.dir, "safrasync-profiled")
	if err := os.WriteFile(name, overlay, 0o600); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-overlay", name, "-o", binary, "./cmd/safrasync")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the program with a profile: %w: %s", err, out)
	}
	return binary, nil
}

// profile sends once and adds what the profile says of it.
func (b *bench) profile(ctx context.Context, name, binary string, latency time.Duration) error {
	file := filepath.Join(b.dir, fmt.Sprintf("%s-%s.pprof", name, latency))
	base := result{Measure: mProfile, Who: ourName + name, LatencyMS: int(latency.Milliseconds()), Rows: b.rows}
	if err := b.sendProfiled(ctx, base, name, binary, file, latency); err != nil {
		return err
	}
	steps, err := stepsOf(ctx, binary, file)
	if err != nil {
		return err
	}
	for _, step := range steps {
		r := base
		r.Seconds, r.Ratio, r.CPU, r.Step = step.seconds, step.share, step.seconds/float64(b.rows)*1000, step.name
		if err := b.add(r, nil); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) sendProfiled(ctx context.Context, r result, name, binary, file string, latency time.Duration) (err error) {
	release := b.binary
	defer func() { b.binary = release }()
	b.binary = binary
	if err := os.Setenv("SAFRASYNC_BENCH_PROFILE", file); err != nil {
		return err
	}
	a, err := startAPI(apiOptions{latency: latency})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.stop()) }()
	erp, err := b.erp(ctx, b.rows)
	if err != nil {
		return err
	}
	c, err := b.contestant(ctx, name, a.url, erp)
	if err != nil {
		return err
	}
	return errors.Join(b.run(ctx, c, c.pass(), &r), b.discard(c))
}
