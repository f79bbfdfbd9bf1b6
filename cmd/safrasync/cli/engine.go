package cli

import (
	"context"
	"errors"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/events"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// OpenEngine builds an engine from the configuration. source is the ERP: see OpenERP and
// unreachable. ends means that the process ends with its pass.
func (a *App) OpenEngine(store *state.Store, source run.Source, ends bool,
	observe func(run.Progress),
) (*engine.Engine, error) {
	config, err := a.LoadConfig()
	if err != nil {
		return nil, err
	}
	jobs, err := office.CompileJobs(config)
	if err != nil {
		return nil, err
	}
	client, err := a.OpenAPI()
	if err != nil {
		return nil, err
	}
	limits := config.Limits()
	limits.Ends = ends
	owner := state.Self()
	owner.Platform = config.API.Platform()
	return engine.New(engine.EngineParts{
		Ledger: store, Source: source, Version: a.Version, Several: config.State.Driver == state.Postgres,
		Log: a.Logger(),
		Env: run.Env{
			Platform: client, Clock: clock.SystemClock{}, Owner: owner, Jobs: jobs,
			References: config.ReferenceSpecs(), Limits: limits, Brakes: config.EngineBrakes(),
			Zone: config.Zone(), Observe: observe,
		},
	}), nil
}

// ERPUse is what a command needs of the ERP.
type ERPUse int

const (
	// NoERP means that the command asks the ledger alone.
	NoERP ERPUse = iota
	// ERPUnasked means that there is an engine, and that each read of the ERP fails.
	ERPUnasked
	// ERPIfThere means that without the ERP the rest is done: each read of the ERP returns why.
	ERPIfThere
	// ERPNeeded means that nothing can be done without the ERP.
	ERPNeeded
)

// Office opens the ledger, and the ERP as far as it is needed, and returns the office on them: the one
// door of all commands but those that make, copy and mend a ledger.
func (a *App) Office(ctx context.Context, how Access, use ERPUse) (*office.Office, error) {
	return a.OfficeSeen(ctx, how, use, nil)
}

// ConfirmedOffice asks whether to do the plan that was shown, as Confirm does, and opens the ledger to do it.
func (a *App) ConfirmedOffice(ctx context.Context, yes bool) (*office.Office, error) {
	if err := a.Confirm(yes); err != nil {
		return nil, err
	}
	return a.Office(ctx, ToWrite, NoERP)
}

// OfficeSeen is Office whose runs tell observe how far they are.
func (a *App) OfficeSeen(ctx context.Context, how Access, use ERPUse, observe func(run.Progress)) (*office.Office,
	error,
) {
	store, err := a.OpenLedger(ctx, how)
	if err != nil {
		return nil, err
	}
	options := office.Deps{
		Config: a.Config, Store: store, Log: a.Logger(), Version: a.Version, Lang: a.Lang(), Now: office.Now,
	}
	var source run.Source = unreachable(errors.New("the ERP is not asked without --erp"))
	if use >= ERPIfThere {
		source, err = a.OpenSource(ctx)
		if err != nil && use == ERPNeeded {
			return nil, err
		}
	}
	if use == NoERP {
		options.Jobs, err = office.CompileJobs(a.Config)
	} else {
		options.Engine, err = a.OpenEngine(store, source, true, observe)
	}
	if err != nil {
		return nil, err
	}
	return office.New(options), nil
}

// Listener builds the processor of events.
func (a *App) Listener(o *office.Office) (*events.Processor, error) {
	// the processor repeats a GET that failed, on its own schedule
	client, err := a.OpenAPI(func(o *apiclient.Settings) { o.Once = true })
	if err != nil {
		return nil, err
	}
	program := ProgramRecord()
	return o.Listener(client, trade.Person{Name: program.Who, From: program.From}), nil
}

// LateSource is an ERP that is opened when it is read. If it cannot be opened, every read returns the
// reason. A run then reports and records this as what stopped its jobs, as with an ERP that is lost
// later.
type LateSource func(ctx context.Context) (*erp.Source, error)

var _ run.Source = LateSource(nil)

// unreachable returns a Source for an ERP that could not be opened.
func unreachable(err error) LateSource {
	return func(context.Context) (*erp.Source, error) { return nil, err }
}

// late asks an ERP that is opened for it, or returns why it cannot be opened.
func late[T any](ctx context.Context, open LateSource, ask func(*erp.Source) (T, error)) (answer T, err error) {
	source, err := open(ctx)
	if err != nil {
		return answer, err
	}
	return ask(source)
}

// Columns queries the ERP.
func (open LateSource) Columns(ctx context.Context, sql string) ([]erp.Column, error) {
	return late(ctx, open, func(s *erp.Source) ([]erp.Column, error) { return s.Columns(ctx, sql) })
}

// Read queries the ERP.
func (open LateSource) Read(ctx context.Context, q erp.Query, w erp.Window, fn func(erp.Row) error) (erp.Result,
	error,
) {
	return late(ctx, open, func(s *erp.Source) (erp.Result, error) { return s.Read(ctx, q, w, fn) })
}

// ByKeys queries the ERP.
func (open LateSource) ByKeys(ctx context.Context, q erp.Query, keys [][]erp.Value) ([]erp.Row, error) {
	return late(ctx, open, func(s *erp.Source) ([]erp.Row, error) { return s.ByKeys(ctx, q, keys) })
}

// Explain queries the ERP.
func (open LateSource) Explain(ctx context.Context, q erp.Query, key []string) (erp.Exclusion, error) {
	return late(ctx, open, func(s *erp.Source) (erp.Exclusion, error) { return s.Explain(ctx, q, key) })
}

// BeforeCutOver queries the ERP.
func (open LateSource) BeforeCutOver(ctx context.Context, q erp.Query, keys [][]string) ([]erp.Row, error) {
	return late(ctx, open, func(s *erp.Source) ([]erp.Row, error) { return s.BeforeCutOver(ctx, q, keys) })
}

// Table queries the ERP.
func (open LateSource) Table(ctx context.Context, sql string, columns []string, fn func([]erp.Value) error) error {
	source, err := open(ctx)
	if err != nil {
		return err
	}
	return source.Table(ctx, sql, columns, fn)
}

// OpenSource connects to the ERP. If that fails, it returns the error and, beside it, a source
// whose every read returns that error.
func (a *App) OpenSource(ctx context.Context) (run.Source, error) {
	source, err := a.OpenERP(ctx)
	if err != nil {
		return unreachable(err), err
	}
	return source, nil
}
