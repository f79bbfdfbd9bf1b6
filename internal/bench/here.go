package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// here says on what was measured, and how busy it was with other things.
func here(ctx context.Context, b *bench) (string, error) {
	version, err := exec.CommandContext(ctx, b.binary, "version").Output()
	if err != nil {
		return "", fmt.Errorf("%s version: %w", b.binary, err)
	}
	var postgres string
	dsn := b.erpServer.DSN("postgres")
	if err := withDB(dsn, func(db *sql.DB) error { return db.QueryRowContext(ctx, `SHOW server_version`).Scan(&postgres) }); err != nil {
		return "", err
	}
	load, _, _ := strings.Cut(firstLine("/proc/loadavg"), " ")
	text := fmt.Sprintf("%s; %d cores (%s), Linux %s, PostgreSQL %s, %s. %d POSTs in flight, `rate_limit: 0`, %s. When it began, %s processes were waiting for the processors or using them, other than these.",
		strings.TrimSpace(string(version)), runtime.NumCPU(), processor(), firstLine("/proc/sys/kernel/osrelease"), strings.Fields(postgres)[0], runtime.Version(),
		b.inFlight, time.Now().Format(time.DateOnly), load)
	line, err := json.Marshal(header{text})
	if err == nil {
		_, err = fmt.Fprintf(b.json, "%s\n", line)
	}
	return text, err
}

func firstLine(name string) string {
	text, _ := os.ReadFile(name) // nothing depends on it
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}

func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
