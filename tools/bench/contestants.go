package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// contestant is a program that reads the rows of the ERP, POSTs them and keeps a record ("book") of
// what it has sent.
type contestant struct {
	name      string
	ledgerPID int // first process of the PostgreSQL that holds only its book; 0 = none
	folder    string
	pass      func() *exec.Cmd // sends what is not in the book yet, then ends
	book      func(ctx context.Context) (map[int32]entry, error)
	check     func(u used, r *result) error // checks the output of a pass
	ledger    string                        // data source name of a ledger in PostgreSQL; "" = none
}

// ourName begins the name of the program under measurement.
const ourName = "safrasync "

// ours reports whether a contestant is the program under measurement.
func ours(name string) bool { return name == "sqlite" || name == "postgres" }

// slowServer makes flushes of the ledger's server take longer: the server sleeps before it flushes
// its log, and every session that waits for the same flush waits too.
func (c contestant) slowServer(ctx context.Context) error {
	if c.ledger == "" {
		return nil
	}
	return withDB(c.ledger, func(db *sql.DB) error {
		for _, setting := range []string{
			fmt.Sprintf("commit_delay = %d", flushMore.Microseconds()),
			"commit_siblings = 0",
		} {
			if _, err := db.ExecContext(ctx, `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET `+setting+
				`', current_database()); END $$`); err != nil {
				return err
			}
		}
		return nil
	})
}

// names lists the contestants in order; the first two are the program under measurement.
var names = []string{"sqlite", "postgres", "bento", "river", "river-each", "script"}

// contestant returns a contestant that has sent nothing yet.
func (b *bench) contestant(ctx context.Context, name, url, erp string) (contestant, error) {
	if ours(name) {
		_, c, err := b.ours(name, url, erp)
		return c, err
	}
	if err := clearBook(ctx, erp); err != nil {
		return contestant{}, fmt.Errorf("the book of %s: %w", name, err)
	}
	binary, err := b.built(strings.TrimSuffix(name, "-each"))
	c := contestant{name: name, folder: b.folder(), check: func(used, *result) error { return nil }}
	book := sentBook
	if name == "river" {
		book = outputBook
	}
	c.book = func(ctx context.Context) (map[int32]entry, error) { return readBook(ctx, erp, book) }
	inFlight := fmt.Sprint(b.inFlight)
	c.pass = func() *exec.Cmd {
		var cmd *exec.Cmd
		switch name {
		case "bento":
			cmd = exec.Command(binary, "-c", filepath.Join(moduleDir("bento"), "pipeline.yaml"))
			cmd.Env = append(os.Environ(), "BENCH_URL="+url, "BENCH_KEY="+apiKey, "BENCH_IN_FLIGHT="+inFlight,
				"BENCH_ERP_URL="+asURL(erp))
		case "river", "river-each":
			cmd = exec.Command(binary, "-url", url, "-dsn", erp, "-key", apiKey, "-in-flight", inFlight,
				"-each="+strconv.FormatBool(name != "river"))
		default:
			cmd = exec.Command(binary, "-url", url, "-dsn", erp, "script")
			cmd.Env = append(os.Environ(), roleEnv+"=1")
		}
		return cmd
	}
	return c, err
}

// ours returns the program with a new ledger.
func (b *bench) ours(name, url, erp string) (*program, contestant, error) {
	c := contestant{name: ourName + name, folder: b.folder(), check: checkPass}
	p := &program{
		binary: b.binary, dir: c.folder, url: url, erp: erp, driver: name,
		ledger: filepath.Join(c.folder, "ledger", "state.db"), inFlight: b.inFlight,
	}
	if name == "postgres" {
		b.databases++
		var err error
		c.ledger, err = b.ledgerServer.Create(fmt.Sprintf("ledger_%d", b.databases))
		if err != nil {
			return nil, c, err
		}
		c.ledgerPID, p.ledger = b.ledgerServer.PID(), c.ledger
	}
	c.pass = func() *exec.Cmd { return p.sync() }
	c.book = func(ctx context.Context) (map[int32]entry, error) { return p.ledgerOf(ctx) }
	if err := p.configure(false); err != nil {
		return nil, c, err
	}
	if out, err := p.command("state", "new").CombinedOutput(); err != nil {
		return nil, c, fmt.Errorf("beginning a ledger: %w: %s", err, out)
	}
	return p, c, nil
}

// discard deletes a contestant's data, so that the next one has as much disk space.
func (b *bench) discard(c contestant) error {
	if c.ledger == "" {
		return os.RemoveAll(c.folder)
	}
	return errors.Join(b.ledgerServer.Drop(valuesOf(c.ledger)["dbname"]), os.RemoveAll(c.folder))
}

// valuesOf parses a data source name of key=value pairs.
func valuesOf(dsn string) map[string]string {
	values := map[string]string{}
	for pair := range strings.FieldsSeq(dsn) {
		key, value, _ := strings.Cut(pair, "=")
		values[key] = value
	}
	return values
}

// asURL returns a data source name of key=value pairs as a URL, the form that Bento requires.
func asURL(dsn string) string {
	values := valuesOf(dsn)
	return fmt.Sprintf("postgres://%s@%s:%s/%s?sslmode=%s", values["user"], values["host"], values["port"],
		values["dbname"], values["sslmode"])
}

// moduleDir returns the folder of a yardstick that is a separate module. The measurement runs in
// the folder tools.
func moduleDir(name string) string { return filepath.Join("bench", name) }

// built builds a yardstick once, in its own module, and returns the path of the binary.
func (b *bench) built(name string) (string, error) {
	if name == "script" {
		return os.Executable()
	}
	binary, err := filepath.Abs(filepath.Join("..", "bin", "bench-"+name))
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

// cpu returns the CPU time that the ledger's server and the ERP's server have used so far, in
// seconds. A book in the ERP's own database counts with the ERP.
func (b *bench) cpu(c contestant) (ledger, erp float64, err error) {
	if c.ledgerPID != 0 {
		ledger, err = cpuOfServer(c.ledgerPID)
	}
	erp, erpErr := cpuOfServer(b.erpServer.PID())
	return ledger, erp, errors.Join(err, erpErr)
}
