package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// profiles prints where the processor's time goes while the program sends at latency 0. What is profiled is the same source, built with another main around it.
func (b *bench) profiles(ctx context.Context) error {
	binary, err := b.profiled(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !ours(name) || !b.wanted(name) {
			continue
		}
		file := filepath.Join(b.dir, name+".pprof")
		if err := b.profile(ctx, name, binary, file); err != nil {
			return err
		}
		for _, by := range []string{"-flat", "-cum"} {
			out, err := exec.CommandContext(ctx, "go", "tool", "pprof", "-top", by, "-nodecount=40", binary, file).Output()
			if err != nil {
				return fmt.Errorf("reading the profile: %w", err)
			}
			if _, err := fmt.Fprintf(b.w, "\nprofile of safrasync %s, %s\n%s", name, by, out); err != nil {
				return err
			}
		}
	}
	return nil
}

// profiled builds the program with a main that keeps a profile.
func (b *bench) profiled(ctx context.Context) (string, error) {
	root, err := os.Getwd()
	if err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(root, "cmd", "safrasync", "main.go"): filepath.Join(root, "internal", "bench", "testdata", "main.go.txt"),
	}})
	if err != nil {
		return "", err
	}
	name, binary := filepath.Join(b.dir, "overlay.json"), filepath.Join(b.dir, "safrasync-profiled")
	if err := os.WriteFile(name, overlay, 0o600); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-overlay", name, "-o", binary, "./cmd/safrasync")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the program with a profile: %w: %s", err, out)
	}
	return binary, nil
}

func (b *bench) profile(ctx context.Context, name, binary, file string) error {
	release := b.binary
	defer func() { b.binary = release }()
	b.binary = binary
	if err := os.Setenv("SAFRASYNC_BENCH_PROFILE", file); err != nil {
		return err
	}
	a, err := startAPI(apiOptions{})
	if err != nil {
		return err
	}
	defer func() { _ = a.stop() }()
	erp, err := b.erp(ctx, b.rows)
	if err != nil {
		return err
	}
	c, err := b.contestant(ctx, name, a.url, erp)
	if err != nil {
		return err
	}
	r := result{Measure: mProfile, Rows: b.rows}
	return b.run(ctx, c, c.pass(), &r)
}
