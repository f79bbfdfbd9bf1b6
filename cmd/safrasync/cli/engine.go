package cli

import (
	"context"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/events"
	"github.com/safrasync/safrasync/sync/run"
)

// OpenEngine builds an engine from the configuration. source is the ERP: see OpenERP and
// Unreachable.
func (a *App) OpenEngine(store *state.Store, source run.Source,
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
	owner := state.Self()
	owner.Platform = config.API.Platform()
	return engine.New(engine.Config{
		Ledger: store, Source: source, Platform: client, Clock: clock.SystemClock{}, Owner: owner,
		Version: a.Version,
		Several: config.State.Driver == state.Postgres, Jobs: jobs,
		References: config.ReferenceSpecs(), Limits: config.Limits(), Brakes: config.EngineBrakes(),
		Zone: config.Zone(), Log: a.Logger(), Observe: observe,
	}), nil
}

// ERPUse is what a command needs of the ERP.
type ERPUse int

const (
	// NoERP means that the command asks the ledger alone.
	NoERP ERPUse = iota
	// ERPIfThere means that without the ERP the rest is done: each read of the ERP returns why.
	ERPIfThere
	// ERPNeeded means that nothing can be done without the ERP.
	ERPNeeded
)

// Office opens the ledger, and the ERP as far as it is needed, and returns the office on them.
func (a *App) Office(ctx context.Context, how Access, use ERPUse) (*office.Office, error) {
	store, err := a.OpenLedger(ctx, how)
	if err != nil {
		return nil, err
	}
	if use == NoERP {
		return a.OfficeOn(store, nil)
	}
	source, err := a.OpenSource(ctx)
	if err != nil && use == ERPNeeded {
		return nil, err
	}
	e, err := a.OpenEngine(store, source, nil)
	if err != nil {
		return nil, err
	}
	return a.OfficeOn(store, e)
}

// OfficeOn returns the office on an open ledger and an engine on it; nil: it has none.
func (a *App) OfficeOn(store *state.Store, e *engine.Engine) (*office.Office, error) {
	options := office.Options{
		Config: a.Config, Store: store, Engine: e, Log: a.Logger(), Version: a.Version, Lang: a.Lang(), Now: office.Now,
	}
	var err error
	if e != nil {
		options.Jobs = e.Jobs
	} else if options.Jobs, err = office.CompileJobs(a.Config); err != nil {
		return nil, err
	}
	return office.New(options), nil
}

// EventProcessor builds the processor of events.
func (a *App) EventProcessor(store *state.Store) (*events.Processor, error) {
	jobs, err := office.CompileJobs(a.Config)
	if err != nil {
		return nil, err
	}
	// the processor repeats a GET that failed, on its own schedule
	client, err := a.OpenAPI(func(o *apiclient.Options) { o.Once = true })
	if err != nil {
		return nil, err
	}
	program := ProgramRecord()
	return &events.Processor{
		Inbox: store, Candidates: store, Rows: store, Platform: client, Jobs: jobs,
		Now: office.Now, Limits: a.Config.Limits(),
		Zone:    a.Config.Zone(),
		Log:     a.Logger(),
		Program: acts.Person{Name: program.Who, From: program.From},
	}, nil
}
