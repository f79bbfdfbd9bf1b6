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

// profiles prints where CPU time is spent while the program sends, at each latency; the cost of a
// row differs, because groups are smaller at higher latency. It profiles the same source, built
// with another main function. pprof prints the list; the profiles stay in the folder of -dir.
func (b *bench) profiles(ctx context.Context, latencies []time.Duration) (err error) {
	root, err := filepath.Abs("..")
	if err != nil {
		return err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(root, "cmd", "safrasync", "main.go"): filepath.Join(root, "tools", "bench", "testdata",
			"main.go.txt"),
	}})
	if err != nil {
		return err
	}
	file, binary, release := filepath.Join(b.dir, "overlay.json"), filepath.Join(b.dir, "safrasync-profiled"), b.binary
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-overlay", file, "-o", binary,
		"./cmd/safrasync")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building the program with a profile: %w: %s", err, out)
	}
	defer func() { b.binary = release }()
	b.binary = binary
	for _, latency := range latencies {
		for _, name := range names[:2] {
			if !b.wanted(name) {
				continue
			}
			if err := b.profile(ctx, name, latency); err != nil {
				return err
			}
		}
	}
	return nil
}

// profile sends once and prints the profile.
func (b *bench) profile(ctx context.Context, name string, latency time.Duration) (err error) {
	file := filepath.Join(b.dir, fmt.Sprintf("%s-%s.pprof", name, latency))
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
	if err := errors.Join(b.run(ctx, c, c.pass(), &result{Rows: b.rows}), b.discard(c)); err != nil {
		return err
	}
	list, err := exec.CommandContext(ctx, "go", "tool", "pprof", "-top", "-cum", "-nodecount=100", b.binary,
		file).Output()
	if err != nil {
		return fmt.Errorf("reading the profile: %w", err)
	}
	_, err = fmt.Fprintf(b.w, "\n%s, latency %s, %d rows\n%s", c.name, latency, b.rows, list)
	return err
}
