package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/internal/systemd"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// App is one execution of one command. main makes one; tests make many in one process. What a
// command needs is opened on first use, and closed when Run returns.
type App struct {
	Stdin  io.Reader
	Stdout io.Writer // results
	Stderr io.Writer // messages and progress
	Env    func(string) (string, bool)

	Version    string // the program's version; set by Run
	ConfigPath string // --config
	Language   string // of a configuration that is not loaded yet; "" if it names none
	AsJSON     bool   // --json
	Verbose    bool   // --verbose
	Completing bool   // the shell asks what a person may type
	Demo       bool   // the ledger is that of a demo

	Out     *bufio.Writer   // buffers Stdout; Run checks its Flush
	Ended   <-chan struct{} // closed on the first signal
	Config  *config.Config
	Log     *zap.Logger    // nil: the logger of a command
	Closers []func() error // in the order of opening

	ObserveAPI func(apiclient.Observation) // called for each request; may be nil
	pace       *apiclient.Pace             // of all clients
}

// Close closes what was opened, newest first.
func (a *App) Close() error {
	var errs []error
	for i := len(a.Closers) - 1; i >= 0; i-- {
		errs = append(errs, a.Closers[i]())
	}
	a.Closers = nil
	return errors.Join(errs...)
}

// LoadConfig reads the configuration, once. Its errors are *config.Error (exit code 78).
func (a *App) LoadConfig() (*config.Config, error) { return LoadConfigBy(a, config.Load) }

// LoadConfigBy is LoadConfig with another function that reads the file.
func LoadConfigBy(a *App,
	load func(string, func(string) (string, bool)) (*config.Config, error),
) (*config.Config, error) {
	if a.Config != nil {
		return a.Config, nil
	}
	path, err := config.Find(a.ConfigPath)
	if err != nil {
		return nil, err
	}
	config, err := load(path, a.Env)
	if err != nil {
		return nil, err
	}
	a.Config = config
	return config, nil
}

// Access is what a command does with the ledger.
type Access int

const (
	// ToRead opens a ledger that cannot be written. If there is no ledger, an empty one in memory
	// replaces it, and a warning is printed. If a journal shows that the ledger was lost, it returns
	// an error.
	ToRead Access = iota
	// AsItIs is ToRead, but it is an error if there is no ledger.
	AsItIs
	// ToWrite opens a ledger, migrates it if needed, and compares it with its journal. It is an
	// error if there is no ledger.
	ToWrite
)

// OpenLedger opens the configured ledger. It is closed when the command ends.
func (a *App) OpenLedger(ctx context.Context, how Access) (*state.Store, error) {
	config, err := a.LoadConfig()
	if err != nil {
		return nil, err
	}
	if err := a.MayOpen(how); err != nil {
		return nil, err
	}
	options := a.LedgerOptions(config, how)
	store, err := state.Open(ctx, options)
	if how != ToWrite && errors.Is(err, state.ErrNoLedger) {
		if lost := state.Forgotten(options); lost != nil {
			return nil, lost
		}
		if how == ToRead {
			a.Tell("note: %s", a.Voice().LedgerFault(LedgerFault(err), err))
			store, err = state.OpenMemory(ctx)
		}
	}
	if err != nil {
		return nil, err
	}
	a.Closers = append(a.Closers, store.Close)
	if how == ToWrite { // the ledger and its journal are for their owner alone
		paths := store.Files(a.Config.State.Journals())
		for _, path := range slices.Sorted(maps.Keys(paths)) {
			info, err := os.Stat(path)
			if err != nil || runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0 {
				continue
			}
			had := info.Mode().Perm()
			if err := os.Chmod(path, had&paths[path]); err != nil {
				a.Tell("note: %[1]s can be read by other users (mode %04[2]o) and does not belong to this user: run, as its owner: chmod %04[3]o %[1]s", path, had, paths[path])
				continue
			}
			a.Tell("note: other users could read %s (mode %04o): its mode is now %04o", path, had, had&paths[path])
		}
	}
	opening := store.Opening()
	if opening.Settled+opening.Doubts > 0 {
		a.Tell("the earlier process ended between journal and ledger: %d {answer|answers} taken from the journal, %d {row|rows} now in doubt", opening.Settled, opening.Doubts)
	}
	if opening.Acts > 0 {
		a.Tell("the ledger lacked a person's last decision, which the journal had: it was carried out (except a resend: that row stays in doubt); see `safrasync report --audit`")
	}
	return store, nil
}

// PrintServices prints, for a ledger that cannot be opened, which services still use the file that they
// opened at their start.
func (a *App) PrintServices(err error) {
	if fault := LedgerFault(err); fault != nil {
		if pids := state.ServedBy(fault.Path); len(pids) > 0 {
			a.Tell("`safrasync run` is still working (process %s), on the file that it opened at its start: stop it before anything else (`systemctl stop safrasync`); what it sends is also in the journal", strings.Join(pids, ", "))
		}
	}
}

// OwnLedger reports whether the ledger is a file, which is ours to copy, and no server's.
func (a *App) OwnLedger() bool { return a.Config.State.Driver == state.SQLite }

// MayOpen refuses what does not run on this system: on Windows, where no service runs, only the demo
// writes a ledger.
func (a *App) MayOpen(how Access) error {
	if how == ToWrite && !a.Demo && runtime.GOOS == "windows" {
		return phrase.Errorf("on Windows the program looks, tests and shows; what writes a ledger or sends stays on Linux")
	}
	return nil
}

// LoadToWrite reads the configuration for a command that works on a ledger which is not open, and returns
// the options for opening it.
func (a *App) LoadToWrite() (*config.Config, state.OpenOptions, error) {
	config, err := a.LoadConfig()
	if err == nil {
		err = a.MayOpen(ToWrite)
	}
	if err != nil {
		return nil, state.OpenOptions{}, err
	}
	return config, a.LedgerOptions(config, ToWrite), nil
}

// LedgerOptions returns the options for opening the ledger of a configuration.
func (a *App) LedgerOptions(config *config.Config, how Access) state.OpenOptions {
	return state.OpenOptions{
		Driver: config.State.Driver, DSN: config.State.DSN.Reveal(), ReadOnly: how != ToWrite,
		Version: a.Version, Journal: config.State.Journals(), Witness: config.State.Witness.Reveal(),
		Zone: config.Zone(),
	}
}

// OpenERP connects to the ERP; the connection is closed when the command ends. Its error is an
// *erp.Error.
func (a *App) OpenERP(ctx context.Context) (*erp.Source, error) {
	source, err := a.ConnectERP(ctx)
	if err != nil {
		return nil, err
	}
	a.Closers = append(a.Closers, source.Close)
	return source, nil
}

// ConnectERP connects to the ERP. The caller must close the connection.
func (a *App) ConnectERP(ctx context.Context) (*erp.Source, error) {
	config, err := a.LoadConfig()
	if err != nil {
		return nil, err
	}
	return erp.Open(ctx, erp.SourceOptions{
		Driver: config.ERP.Driver, DSN: erp.Secret(config.ERP.DSN.Reveal()), TimeZone: config.Zone(),
		StatementTimeout: config.ERP.StatementTimeout,
		Charset:          config.ERP.Charset,
	})
}

// Logger returns the daemon's logger, or else that of a command.
func (a *App) Logger() *zap.Logger {
	if a.Log != nil {
		return a.Log
	}
	level := zapcore.ErrorLevel
	if a.Verbose {
		level = zapcore.InfoLevel
	}
	return NewLeveledLogger(a.Stderr, level)
}

// OpenAPI makes the API client, which connects with its first request. adjust changes the options
// of a client that is not the engine's.
func (a *App) OpenAPI(adjust ...func(*apiclient.Settings)) (*apiclient.Client, error) {
	conf, err := a.LoadConfig()
	if err != nil {
		return nil, err
	}
	if a.pace == nil {
		a.pace = apiclient.NewPace(conf.API.RateLimit, conf.API.MaxInFlight)
	}
	options := apiclient.Settings{
		BaseURL: conf.API.BaseURL, APIKey: apiclient.Secret(conf.API.APIKey.Reveal()), Timeout: conf.API.Timeout,
		CAFile: conf.API.CAFile, Proxy: apiclient.Secret(conf.API.Proxy.Reveal()),
		UserAgent: "safrasync/" + a.Version, MaxConns: conf.API.MaxInFlight,
		Observe: a.ObserveAPI, Pace: a.pace,
	}
	for _, change := range adjust {
		change(&options)
	}
	client, err := apiclient.New(options)
	if err != nil {
		return nil, &config.Error{Faults: []config.Fault{{File: conf.File(), Text: phrase.New("%w", err)}}, Cause: err}
	}
	a.Closers = append(a.Closers, func() error { client.Close(); return nil })
	return client, nil
}

// Answer prints what a command found or did: with --json the value, else a sentence.
func (a *App) Answer(v any, sentence i18n.Key, args ...any) error {
	if a.AsJSON {
		return a.PrintJSON(v)
	}
	a.Show(sentence, args...)
	return nil
}

// PrintJSON writes a value as one line of JSON.
func (a *App) PrintJSON(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := a.Out.Write(trade.EscapeJSON(b.Bytes()))
	return err
}

// NewLeveledLogger returns a logger that writes JSON lines of a level and above. Lines are never sampled:
// a dropped one may be the one that somebody looks for.
func NewLeveledLogger(w io.Writer, level zapcore.LevelEnabler) *zap.Logger {
	encoder := zapcore.NewJSONEncoder(zapcore.EncoderConfig{
		TimeKey: "time", LevelKey: "level", MessageKey: "msg", StacktraceKey: "stack",
		LineEnding: zapcore.DefaultLineEnding,
		EncodeTime: zapcore.RFC3339NanoTimeEncoder, EncodeLevel: zapcore.LowercaseLevelEncoder,
		EncodeDuration: zapcore.StringDurationEncoder,
	})
	if systemd.ToJournal(w) {
		encoder = systemd.WithPriorities(encoder)
	}
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(maskedLog{w})), level))
}

// maskedLog masks the documents of persons in each line. Keys of the ERP may contain them, and no
// rule of ours removes a line from the log of the host.
type maskedLog struct{ to io.Writer }

func (m maskedLog) Write(line []byte) (int, error) {
	if _, err := m.to.Write(trade.MaskJSON(line)); err != nil {
		return 0, err
	}
	return len(line), nil
}
