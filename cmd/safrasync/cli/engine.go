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
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Engine is an engine with its ledger, for a command that needs both.
type Engine struct {
	*engine.Engine
	Store *state.Store
}

// OpenEngine builds an engine from the configuration. source is the ERP: see OpenERP and
// Unreachable.
func (a *App) OpenEngine(store *state.Store, source run.Source, observe func(run.Progress)) (*Engine, error) {
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
	e := engine.New(engine.Config{
		Ledger: store, Source: source, Platform: client, Clock: clock.SystemClock{}, Owner: owner,
		Version: a.Version,
		Several: config.State.Driver == state.Postgres, Jobs: jobs,
		References: config.ReferenceSpecs(), Limits: config.Limits(), Brakes: config.EngineBrakes(),
		Zone: config.Zone(), Log: a.Logger(), Observe: observe,
	})
	return &Engine{e, store}, nil
}

// Office returns the office on an open ledger, for a command that asks what needs no engine.
func (a *App) Office(store *state.Store) *office.Office {
	return office.New(office.Options{
		Config: a.Config, Store: store, Log: a.Logger(), Version: a.Version, Lang: a.Lang(), Now: office.Now,
	})
}

// OpenReader builds an engine that reads the ledger and the ERP, and writes nothing. If the ERP
// cannot be reached, OpenReader returns the error if needed is set; otherwise each read of the ERP
// returns it.
func OpenReader(ctx context.Context, a *App, needed bool) (*Engine, error) {
	store, err := a.OpenLedger(ctx, ToRead)
	if err != nil {
		return nil, err
	}
	source, err := a.OpenSource(ctx)
	if err != nil && needed {
		return nil, err
	}
	return a.OpenEngine(store, source, nil)
}

// OpenActs builds the acts of people. A plan needs only ToRead.
func (a *App) OpenActs(ctx context.Context, how Access) (*acts.Acts, error) {
	config, err := a.LoadConfig()
	if err != nil {
		return nil, err
	}
	jobs, err := office.CompileJobs(config)
	if err != nil {
		return nil, err
	}
	store, err := a.OpenLedger(ctx, how)
	if err != nil {
		return nil, err
	}
	return office.ActsOn(store, jobs, config), nil
}

// Differences returns where a row of the ERP differs from what was sent.
func (a *App) Differences(ctx context.Context, store *state.Store, entry trade.Entry) ([]trade.Difference, error) {
	if entry.Now == nil {
		return nil, nil
	}
	jobs, err := office.CompileJobs(a.Config)
	if err != nil {
		return nil, err
	}
	refs, err := run.Codes(ctx, store)
	if err != nil {
		return nil, err
	}
	var job *mapping.Job
	for _, j := range jobs {
		if j.Name() == entry.Job {
			job = j
		}
	}
	return run.Differences(ctx, store, job, entry, refs)
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
