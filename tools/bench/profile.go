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

// profiles prints where the processor's time goes while the program sends at each latency: what a
// row costs then is not the same, since groups are smaller. What is profiled is the same source,
// built with another main around it. The list is pprof's own; the profiles stay where -dir says.
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

// profile sends once and prints what the profile says of it.
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
