package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"go.uber.org/zap"
	"golang.org/x/term"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// App is the program: one execution of one command. main makes one, tests make many in one process.
// What a command needs is opened when it is first asked for, and closed when Run returns.
type App struct {
	Stdin  io.Reader
	Stdout io.Writer // results
	Stderr io.Writer // messages and progress
	Env    func(string) (string, bool)

	configPath string // --config
	asJSON     bool   // --json
	verbose    bool   // --verbose

	out     *bufio.Writer   // Stdout; Run checks its Flush
	ended   <-chan struct{} // closed by the first signal
	config  *Config
	log     *zap.Logger    // nil: that of a command
	closers []func() error // in the order of opening

	observeAPI func(apiclient.Observation) // is told of each request; nil tells nobody
}

// Run executes the command line and gives the exit code. Cancelling ctx ends it early; what is on
// the wire is awaited.
func (a *App) Run(ctx context.Context, args []string) int {
	a.out, a.ended = bufio.NewWriter(a.Stdout), ctx.Done()
	root := newRootCommand(a)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	code := exitCode(err)
	if err = errors.Join(err, a.close()); err != nil {
		if code == exitDone {
			code = exitFailed
		}
		a.complain(err)
	}
	if err := a.out.Flush(); err != nil {
		a.complain(fmt.Errorf("standard output: %w", err))
		return max(code, exitFailed)
	}
	return code
}

// complain tells people why the command ended, each reason once and in plain text.
func (a *App) complain(err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			a.complain(e)
		}
		return
	}
	var exit *exitError
	var usage *usageError
	var leased *trade.LeasedError
	var ledger *state.Error
	switch {
	case errors.As(err, &exit):
	case errors.As(err, &usage):
		a.tell("says.usage", usage.text)
	case errors.As(err, &leased):
		a.tell("says.leased", leased.Job, leased.Owner.PID, leased.Owner.Host)
	case errors.As(err, &ledger):
		a.tell("says.error", a.voice().ledgerFault(ledger, err))
	default:
		a.tell("says.error", err)
	}
}

// close closes what was opened, the newest first.
func (a *App) close() error {
	var errs []error
	for i := len(a.closers) - 1; i >= 0; i-- {
		errs = append(errs, a.closers[i]())
	}
	a.closers = nil
	return errors.Join(errs...)
}

// loadConfig reads the configuration, once. Its errors are *ConfigError (exit code 78).
func (a *App) loadConfig() (*Config, error) { return a.loadConfigBy(LoadConfig) }

func (a *App) loadConfigBy(load func(string, func(string) (string, bool)) (*Config, error)) (*Config, error) {
	if a.config != nil {
		return a.config, nil
	}
	path, err := FindConfig(a.configPath)
	if err != nil {
		return nil, err
	}
	config, err := load(path, a.Env)
	if err != nil {
		return nil, err
	}
	a.config = config
	return config, nil
}

// access says what a command does with the ledger.
type access bool

const (
	// nothing can be written; in the place of a ledger that does not exist stands an empty one in memory, and people are told
	toRead  access = false
	toWrite access = true // migrated when needed, and compared with its journal; one that does not exist is an error
)

// openLedger opens the ledger of the configuration.
func (a *App) openLedger(ctx context.Context, how access) (*state.Store, error) {
	config, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	store, err := state.Open(ctx, ledgerOptions(config, how))
	if how == toRead && errors.Is(err, state.ErrNoLedger) {
		var absent *state.Error
		errors.As(err, &absent)
		a.tell("ledger.none", a.voice().ledgerFault(absent, err))
		store, err = state.OpenMemory(ctx)
	}
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, store.Close)
	if how == toWrite {
		a.tighten(store)
	}
	opening := store.Opening()
	if opening.Settled+opening.Doubts > 0 {
		a.tell("ledger.settled", opening.Settled, opening.Doubts)
	}
	if opening.Acts > 0 {
		a.tell("ledger.act_settled")
	}
	return store, nil
}

func ledgerOptions(config *Config, how access) state.Options {
	return state.Options{
		Driver: config.State.Driver, DSN: config.State.DSN.Reveal(), ReadOnly: how == toRead,
		Version: version, Journal: config.State.journals(), Zone: config.Zone(),
	}
}

// openERP connects to the ERP until the command ends; the error is an *erp.Error.
func (a *App) openERP(ctx context.Context) (*erp.Source, error) {
	source, err := a.connectERP(ctx)
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, source.Close)
	return source, nil
}

// connectERP connects to the ERP; who asks for it closes it.
func (a *App) connectERP(ctx context.Context) (*erp.Source, error) {
	config, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	return erp.Open(ctx, erp.Options{
		Driver: config.ERP.Driver, DSN: erp.Secret(config.ERP.DSN.Reveal()), TimeZone: config.Zone(),
		StatementTimeout: config.ERP.StatementTimeout,
		Charset:          config.ERP.Charset,
	})
}

// logger is that of the daemon, or of a command.
func (a *App) logger() *zap.Logger {
	if a.log != nil {
		return a.log
	}
	return newLogger(a.Stderr, a.verbose)
}

// openAPI makes the client; it connects with the first request. adjust changes options of a client
// that is not the engine's.
func (a *App) openAPI(adjust ...func(*apiclient.Options)) (*apiclient.Client, error) {
	config, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	options := apiclient.Options{
		BaseURL: config.API.BaseURL, APIKey: apiclient.Secret(config.API.APIKey.Reveal()), Timeout: config.API.Timeout,
		CAFile: config.API.CAFile, UserAgent: "safrasync/" + version, MaxConns: config.API.MaxInFlight,
		Observe: a.observeAPI,
	}
	for _, change := range adjust {
		change(&options)
	}
	client, err := apiclient.New(options)
	if err != nil {
		return nil, &ConfigError{Faults: []ConfigFault{{File: config.source.name, Text: err.Error()}}, cause: err}
	}
	a.closers = append(a.closers, func() error { client.Close(); return nil })
	return client, nil
}

// parts are what an engine is made of, for a command that needs more than the engine itself.
type parts struct {
	*engine.Engine
	store *state.Store
}

// openEngine wires an engine of the configuration. source is the ERP: see openERP and unreachable.
func (a *App) openEngine(store *state.Store, source engine.Source, observe func(engine.Progress)) (*parts, error) {
	config, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	jobs, err := compileJobs(config)
	if err != nil {
		return nil, err
	}
	client, err := a.openAPI()
	if err != nil {
		return nil, err
	}
	owner := state.Self()
	owner.Platform = config.API.platform()
	e := engine.New(engine.Config{
		Ledger: engine.LedgerOf(store), Source: source, Platform: client, Clock: engine.SystemClock{}, Owner: owner,
		Version: version, Several: config.State.Driver == state.Postgres, Jobs: jobs,
		References: config.ReferenceSpecs(), Limits: config.Limits(), Brakes: config.EngineBrakes(),
		Zone: config.Zone(), Log: a.logger(), Observe: observe,
	})
	return &parts{e, store}, nil
}

// compileJobs makes the jobs executable, in the order in which they run; faults name their line of
// the configuration.
func compileJobs(config *Config) ([]*engine.Job, error) {
	var jobs []*engine.Job
	var errs []error
	for _, spec := range config.JobSpecs() {
		job, err := engine.Compile(spec, config.Zone())
		if err != nil {
			errs = append(errs, err)
			continue
		}
		jobs = append(jobs, job)
	}
	if len(errs) > 0 {
		return nil, config.Annotate(errors.Join(errs...))
	}
	jobs, err := engine.Order(jobs)
	return jobs, config.Annotate(err)
}

// checkJobNames refuses a job that is not configured, before anything is opened.
func (a *App) checkJobNames(config *Config, names []string) error {
	var have []string
	known := map[string]bool{}
	for _, job := range config.Jobs {
		have = append(have, job.Name)
		known[job.Name] = true
	}
	for _, name := range names {
		if !known[name] {
			return a.usage("says.no_job", name, listed(have))
		}
	}
	return nil
}

// checkKey gives a key as the ledger has it, and refuses one that no row of the job can have,
// because it has too few or too many parts.
func (a *App) checkKey(config *Config, job, key string) (string, error) {
	if err := a.checkJobNames(config, []string{job}); err != nil {
		return "", err
	}
	for _, j := range config.Jobs {
		if parts := strings.Join(j.Key, "|"); j.Name == job && len(codeParts(key)) != len(j.Key) {
			return "", a.usage("says.key_parts", key, job, parts)
		}
	}
	return canonicalKey(key), nil
}

// canonicalKey is a key as the ledger has it, from one that a person typed: without blanks around
// its parts, as the ERP pads them, and with a backslash before each backslash.
func canonicalKey(key string) string {
	var b strings.Builder
	for i := 0; i < len(key); i++ {
		b.WriteByte(key[i])
		if key[i] != '\\' {
			continue
		}
		if i+1 < len(key) && (key[i+1] == '|' || key[i+1] == '\\') {
			i++
			b.WriteByte(key[i])
		} else {
			b.WriteByte('\\')
		}
	}
	return normalCode(b.String())
}

// printJSON writes one object as one line.
func (a *App) printJSON(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := a.out.Write(trade.EscapeJSON(b.Bytes()))
	return err
}

// isTerminal tells whether a stream is a terminal: only there are a progress bar and a question of
// use.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// now is the wall clock, in UTC.
func now() time.Time { return time.Now().UTC() }
