package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// contestant is a program that reads the rows of the ERP, POSTs them and keeps a book of what it has sent.
type contestant struct {
	name      string
	ledgerPID int // first process of the PostgreSQL that holds its book alone; 0 = none
	folder    string
	pass      func() *exec.Cmd // sends what is not in the book yet, and ends
	book      func(ctx context.Context) (map[int32]entry, error)
}

// names are the contestants in their order; the first two are the program under measurement.
var names = []string{"sqlite", "postgres", "bento", "river", "script"}

// contestant makes one ready to start from nothing.
func (b *bench) contestant(ctx context.Context, name, url string) (contestant, error) {
	switch name {
	case "sqlite", "postgres":
		return b.ours(name, url)
	}
	if err := clearBook(ctx, b.erp); err != nil {
		return contestant{}, fmt.Errorf("the book of %s: %w", name, err)
	}
	binary, err := b.built(name)
	c := contestant{name: name, folder: b.folder(), book: func(ctx context.Context) (map[int32]entry, error) { return readBook(ctx, b.erp) }}
	inFlight := fmt.Sprint(b.inFlight)
	c.pass = func() *exec.Cmd {
		var cmd *exec.Cmd
		switch name {
		case "bento":
			cmd = exec.Command(binary, "-c", filepath.Join(moduleDir("bento"), "pipeline.yaml"))
			cmd.Env = append(os.Environ(), "BENCH_URL="+url, "BENCH_KEY="+apiKey, "BENCH_IN_FLIGHT="+inFlight, "BENCH_ERP_URL="+b.erpURL())
		case "river":
			cmd = exec.Command(binary, "-url", url, "-dsn", b.erp, "-key", apiKey, "-in-flight", inFlight)
		default:
			cmd = exec.Command(binary, "-url", url, "-dsn", b.erp, "script")
			cmd.Env = append(os.Environ(), roleEnv+"=1")
		}
		return cmd
	}
	return c, err
}

// ours is the program with a new ledger.
func (b *bench) ours(name, url string) (contestant, error) {
	c, ledger := contestant{name: "safrasync " + name, folder: b.folder()}, name
	if name == "postgres" {
		b.databases++
		var err error
		if ledger, err = b.ledgerServer.Create(fmt.Sprintf("ledger_%d", b.databases)); err != nil {
			return c, err
		}
		c.ledgerPID = b.ledgerServer.PID()
	}
	p, err := newProgram(b.binary, c.folder, url, b.erp, ledger, b.inFlight)
	if err != nil {
		return c, err
	}
	c.pass = func() *exec.Cmd { return p.sync() }
	c.book = p.ledger
	return c, nil
}

// erpURL is the ERP's data source name as a URL, which is how Bento wants it.
func (b *bench) erpURL() string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/erp?sslmode=disable", b.erpServer.Port())
}

// moduleDir is the folder of a yardstick with a module of its own. The measurement runs in the root of the repository.
func moduleDir(name string) string { return filepath.Join("internal", "bench", name) }

// built builds a yardstick once, in its own module, and tells where it is.
func (b *bench) built(name string) (string, error) {
	if name == "script" {
		return os.Executable()
	}
	binary, err := filepath.Abs(filepath.Join("bin", "bench-"+name))
	if err != nil || b.builds[name] {
		return binary, err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", binary, ".")
	cmd.Dir = moduleDir(name)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w: %s", name, err, strings.TrimSpace(string(out)))
	}
	b.builds[name] = true
	return binary, nil
}

// cpu is what the ledger's server and the ERP's have computed so far, in seconds. A book in the ERP's own database counts with the ERP.
func (b *bench) cpu(c contestant) (ledger, erp float64, err error) {
	if c.ledgerPID != 0 {
		ledger, err = cpuOfServer(c.ledgerPID)
	}
	erp, erpErr := cpuOfServer(b.erpServer.PID())
	return ledger, erp, errors.Join(err, erpErr)
}
