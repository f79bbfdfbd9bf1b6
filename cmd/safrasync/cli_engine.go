package main

import (
	"context"
	"errors"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

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
		Ledger: store, Source: source, Platform: client, Clock: engine.SystemClock{}, Owner: owner, Version: a.version,
		Several: config.State.Driver == state.Postgres, Jobs: jobs,
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

// openActs wires the acts of people. A plan needs no more than to read.
func (a *App) openActs(ctx context.Context, how access) (*engine.Acts, error) {
	config, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	jobs, err := compileJobs(config)
	if err != nil {
		return nil, err
	}
	store, err := a.openLedger(ctx, how)
	if err != nil {
		return nil, err
	}
	return &engine.Acts{
		Desk: store, Jobs: jobs, Now: now, Unknown: func(err error) bool { return errors.Is(err, state.ErrNotFound) },
		Boot: state.Self().Boot, Clock: engine.SystemClock{}, Limits: config.Limits(),
	}, nil
}

// differences tells where a row of the ERP is no longer what was sent.
func (a *App) differences(ctx context.Context, store *state.Store, entry trade.Entry) ([]trade.Difference, error) {
	if entry.Now == nil {
		return nil, nil
	}
	jobs, err := compileJobs(a.config)
	if err != nil {
		return nil, err
	}
	refs, err := engine.Codes(ctx, store)
	if err != nil {
		return nil, err
	}
	var job *engine.Job
	for _, j := range jobs {
		if j.Name() == entry.Job {
			job = j
		}
	}
	return engine.Differences(job, entry, refs), nil
}

// hearing wires what looks at events.
func (a *App) hearing(store *state.Store) (*engine.EventProcessor, error) {
	jobs, err := compileJobs(a.config)
	if err != nil {
		return nil, err
	}
	// a reading that fails is tried in its own time
	client, err := a.openAPI(func(o *apiclient.Options) { o.Once = true })
	if err != nil {
		return nil, err
	}
	program := byTheProgram()
	return &engine.EventProcessor{
		Ledger: store, Platform: client, Jobs: jobs, Now: now, Limits: a.config.Limits(), Zone: a.config.Zone(),
		Log:     a.logger(),
		Program: engine.Person{Name: program.Who, From: program.From},
	}, nil
}
