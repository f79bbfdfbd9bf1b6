package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// idle is the load of a computer that has nothing else to do, at most.
const idle = 0.5

// here describes the computer and how busy it was with other things.
func here(ctx context.Context, b *bench) (string, error) {
	version, err := exec.CommandContext(ctx, b.binary, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s version: %w", b.binary, err)
	}
	var postgres string
	dsn := b.erpServer.DSN("postgres")
	if err := withDB(dsn,
		func(db *sql.DB) error { return db.QueryRowContext(ctx, `SHOW server_version`).Scan(&postgres) }); err != nil {
		return "", err
	}
	load, _, _ := strings.Cut(firstLine("/proc/loadavg"), " ")
	text := fmt.Sprintf("%s; %d cores, PostgreSQL %s; %d POSTs in flight; %s.",
		strings.TrimSpace(string(version)), runtime.NumCPU(), strings.Fields(postgres)[0], b.inFlight,
		time.Now().Format(time.DateOnly))
	if others, err := strconv.ParseFloat(load, 64); err != nil || others > idle {
		text += fmt.Sprintf(
			" **The computer was busy with other things: %s processes were running or waiting for a processor when it began. Even the ratios are a rough picture.**", load)
	}
	return text, nil
}

func firstLine(name string) string {
	text, _ := os.ReadFile(name) // an error does not matter
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}
