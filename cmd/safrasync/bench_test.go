package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/state"
)

// program is safrasync with a folder of its own.
type program struct {
	t    *testing.T
	dir  string
	file string // the configuration; "" where each command names one
	env  map[string]string
}

func newProgram(t *testing.T) *program {
	return &program{t: t, dir: t.TempDir(), env: map[string]string{}}
}

func (p *program) path(names ...string) string { return filepath.Join(p.dir, filepath.Join(names...)) }

func (p *program) read(name string) string {
	p.t.Helper()
	text := must.Get(os.ReadFile(p.path(name)))(p.t)
	return string(text)
}

// write replaces a file as an administrator's editor does, in one step.
func (p *program) write(name, text string) {
	p.t.Helper()
	path := p.path(name)
	must.Do(p.t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path+".new", []byte(text), 0o600),
		os.Rename(path+".new", path)))
}

// configure takes a configuration, with pairs of texts replaced in it.
func (p *program) configure(template string, pairs ...string) {
	p.t.Helper()
	text := must.Get(os.ReadFile(template))(p.t)
	p.file = p.path("config.yaml")
	p.write("config.yaml", strings.NewReplacer(pairs...).Replace(string(text)))
}

// edit changes the configuration, in the first place that has the text.
func (p *program) edit(old, replacement string) {
	p.t.Helper()
	text := p.read("config.yaml")
	if !strings.Contains(text, old) {
		p.t.Fatalf("%q is not in the configuration", old)
	}
	p.write("config.yaml", strings.Replace(text, old, replacement, 1))
}

// sql runs statements on a database in SQLite.
func (p *program) sql(name, script string) {
	p.t.Helper()
	must.Do(p.t, runSQLText(p.path(name), script))
}

func runSQL(database, file string) error {
	script, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return runSQLText(database, string(script))
}

func runSQLText(database, script string) error {
	db, err := sqlx.Open("sqlite", database+"?_pragma=busy_timeout(5000)")
	if err != nil {
		return err
	}
	_, err = db.Exec(script)
	return errors.Join(err, db.Close())
}

// withConfig puts the configuration before the arguments of a command.
func (p *program) withConfig(args []string) []string {
	if p.file == "" {
		return args
	}
	return append([]string{"--config", p.file}, args...)
}

// command is the program as a process of its own.
func (p *program) command(args ...string) *exec.Cmd {
	cmd := exec.Command("safrasync", p.withConfig(args)...)
	cmd.Env = os.Environ()
	for name, value := range p.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return cmd
}

// must runs a command as a process of its own and wants an exit code; it gives what it printed.
func (p *program) must(code int, args ...string) string {
	p.t.Helper()
	cmd := p.command(args...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		p.t.Fatalf("safrasync %s: %v, want exit code %d\n%s", strings.Join(args, " "), err, code, out)
	}
	return string(out)
}

// execute runs a command in this process, and gives its exit code.
func (p *program) execute(ctx context.Context, app *cli.App, args ...string) int {
	app.Env = func(name string) (string, bool) { value, ok := p.env[name]; return value, ok }
	args = p.withConfig(args)
	end := must.Get(transcribe(app, args))(p.t)
	defer func() { must.Do(p.t, end()) }()
	return execute(ctx, app, args)
}

// ask runs a command that is given an input, and gives what it printed, also its messages.
func (p *program) ask(ctx context.Context, stdin string, args ...string) (code int, stdout, stderr string) {
	var out, messages bytes.Buffer
	app := cli.App{Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &messages}
	code = p.execute(ctx, &app, args...)
	return code, out.String(), messages.String()
}

// run wants an exit code of a command.
func (p *program) run(code int, args ...string) (stdout, stderr string) {
	p.t.Helper()
	return p.runIn(context.WithoutCancel(p.t.Context()), "", code, args...)
}

func (p *program) runIn(ctx context.Context, stdin string, code int, args ...string) (stdout, stderr string) {
	p.t.Helper()
	got, stdout, stderr := p.ask(ctx, stdin, args...)
	if got != code {
		p.t.Fatalf("safrasync %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, stdout, stderr)
	}
	return stdout, stderr
}

// fromJSON reads a document that the program wrote.
func fromJSON[T any](t *testing.T, text string) (out T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return out
}

// jsonLines reads what the program wrote as one document in each line.
func jsonLines[T any](t *testing.T, text string) (out []T) {
	t.Helper()
	for line := range strings.Lines(text) {
		out = append(out, fromJSON[T](t, line))
	}
	return out
}

// startSandbox starts a platform for one test.
func startSandbox(t *testing.T, opts sandbox.Options) *sandbox.Running {
	t.Helper()
	box := must.Get(sandbox.Start(opts, "127.0.0.1:0"))(t)
	t.Cleanup(func() { must.Do(t, box.Close()) })
	return box
}

// bench is the program with the cooperative of testdata/coop, against a sandbox.
type bench struct {
	*program
	box    *sandbox.Running
	ledger state.OpenOptions // where the ledger is, to be looked at
}

func setUpBench(t *testing.T, opts sandbox.Options) *bench {
	t.Helper()
	return newCoop(t, state.SQLite, opts)
}

// coopReferences are the files of the de-para of the cooperative.
var coopReferences = map[string]string{
	"producers": "producers.csv", "users": "users.csv", "wallets": "wallets.csv", "delivery_places": "places.csv",
}

// newCoop is a bench with its ledger in one of the two databases.
func newCoop(t *testing.T, on string, opts sandbox.Options) *bench {
	t.Helper()
	opts.APIKey, opts.Seed = platformCanary, 1
	b := &bench{program: newProgram(t), box: startSandbox(t, opts)}
	b.env["SAFRASYNC_API_KEY"] = platformCanary
	b.ledger = state.OpenOptions{Driver: on, DSN: b.path("state.db"), ReadOnly: true}
	ledger := "dsn: " + b.ledger.DSN
	if on == state.Postgres {
		b.ledger.DSN = pgtest.Database(t)
		ledger = fmt.Sprintf("driver: postgres\n  dsn: %q\n  journal: %s", b.ledger.DSN, b.path("journal"))
	}
	b.configure("testdata/coop/config.yaml", "$API", b.box.URL, "dsn: erp.db", "dsn: "+b.path("erp.db"),
		"dsn: state.db", ledger)
	must.Do(t, runSQL(b.path("erp.db"), "testdata/coop/erp.sql"))
	b.run(cli.ExitDone, "state", "new")
	for kind, file := range coopReferences {
		b.run(cli.ExitDone, "refs", "import", kind, "testdata/coop/"+file, "--yes")
	}
	return b
}

// store opens the ledger to look at it.
func (b *bench) store() *state.Store {
	b.t.Helper()
	store := must.Get(state.Open(b.t.Context(), b.ledger))(b.t)
	b.t.Cleanup(func() { _ = store.Close() })
	return store
}

// faults lets the sandbox behave so from now on.
func (b *bench) faults(specs ...string) {
	b.t.Helper()
	b.box.SetFaults(must.Get(sandbox.ParseFaults(specs))(b.t)...)
}
