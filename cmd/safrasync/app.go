package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// App is the program: one execution of one command. main makes one, tests make many in one process.
// What a command needs is opened when it is first asked for, and closed when Run returns.
type App struct {
	Stdin  io.Reader
	Stdout io.Writer // results
	Stderr io.Writer // messages and progress
	Env    func(string) (string, bool)

	version    string // of the program; Run sets it
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
	store, err := state.Open(ctx, a.ledgerOptions(config, how))
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

func (a *App) ledgerOptions(config *Config, how access) state.Options {
	return state.Options{
		Driver: config.State.Driver, DSN: config.State.DSN.Reveal(), ReadOnly: how == toRead,
		Version: a.version, Journal: config.State.journals(), Zone: config.Zone(),
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
		CAFile: config.API.CAFile, UserAgent: "safrasync/" + a.version, MaxConns: config.API.MaxInFlight,
		Observe: a.observeAPI,
	}
	for _, change := range adjust {
		change(&options)
	}
	client, err := apiclient.New(options)
	if err != nil {
		return nil, &ConfigError{Faults: []ConfigFault{{File: config.File(), Text: err.Error()}}, cause: err}
	}
	a.closers = append(a.closers, func() error { client.Close(); return nil })
	return client, nil
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
