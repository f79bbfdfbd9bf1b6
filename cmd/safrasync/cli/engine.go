package cli

import (
	"context"
	"errors"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/discovery"
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
	jobs, err := CompileJobs(config)
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
		Ledger: engine.LedgerOf(store), Source: source, Platform: client, Clock: clock.SystemClock{}, Owner: owner,
		Version: a.Version,
		Several: config.State.Driver == state.Postgres, Jobs: jobs,
		References: config.ReferenceSpecs(), Limits: config.Limits(), Brakes: config.EngineBrakes(),
		Zone: config.Zone(), Log: a.Logger(), Observe: observe,
	})
	return &Engine{e, store}, nil
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

// CompileJobs compiles the jobs and returns them in the order in which they run. Faults name their
// line of the configuration.
func CompileJobs(config *config.Config) ([]*mapping.Job, error) {
	var jobs []*mapping.Job
	var errs []error
	for _, spec := range config.JobSpecs() {
		job, err := mapping.Compile(spec, config.Zone())
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

// OpenActs builds the acts of people. A plan needs only ToRead.
func (a *App) OpenActs(ctx context.Context, how Access) (*acts.Acts, error) {
	config, err := a.LoadConfig()
	if err != nil {
		return nil, err
	}
	jobs, err := CompileJobs(config)
	if err != nil {
		return nil, err
	}
	store, err := a.OpenLedger(ctx, how)
	if err != nil {
		return nil, err
	}
	return ActsOn(store, jobs, config), nil
}

// ActsOn returns the acts of people on an open ledger.
func ActsOn(store *state.Store, jobs []*mapping.Job, config *config.Config) *acts.Acts {
	return &acts.Acts{
		Ledger: store, JobLedger: store, Jobs: jobs, Now: Now,
		Boot: state.Self().Boot, Clock: clock.SystemClock{}, Limits: config.Limits(),
		Rules: config.Approve.Rules(), Approvals: store,
	}
}

// Differences returns where a row of the ERP differs from what was sent.
func (a *App) Differences(ctx context.Context, store *state.Store, entry trade.Entry) ([]trade.Difference, error) {
	if entry.Now == nil {
		return nil, nil
	}
	jobs, err := CompileJobs(a.Config)
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
	jobs, err := CompileJobs(a.Config)
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
		Inbox: store, Candidates: store, Rows: store, Platform: client, Jobs: jobs, Now: Now, Limits: a.Config.Limits(),
		Zone:    a.Config.Zone(),
		Log:     a.Logger(),
		Program: acts.Person{Name: program.Who, From: program.From},
	}, nil
}

// ResyncOf converts an order of a resync to what the engine reads.
func ResyncOf(o acts.Order) discovery.Resync {
	return discovery.Resync{Keys: o.Keys, States: o.States, Since: o.Since}
}

// ResyncRecord returns the audit record of a resync.
func ResyncRecord(o acts.Order, plan map[string]int, who acts.Person) (trade.AuditRecord, error) {
	since := ""
	if !o.Since.IsZero() {
		since = o.Since.Format(time.RFC3339)
	}
	return who.Record(Now(), acts.ActResync, o.Job, struct {
		Since  string         `json:"since,omitempty"`
		Keys   []string       `json:"keys,omitempty"`
		States []trade.State  `json:"states,omitempty"`
		Plan   map[string]int `json:"plan"`
	}{since, o.Keys, o.States, plan})
}

// PlanResync counts, by state, the rows that a resync would find new or changed. seen, if not nil, is
// called for each of them.
func PlanResync(ctx context.Context, e *Engine, v words.Voice, job string,
	wanted discovery.Resync, seen func(trade.Entry),
) (map[string]int, trade.RunReport, error) {
	plan := map[string]int{}
	reports, err := e.Sync(ctx, []string{job},
		engine.Options{DryRun: true, Resync: &wanted, Planned: func(entry trade.Entry) {
			plan[string(entry.State)]++
			if seen != nil {
				seen(entry)
			}
		}})
	if err != nil {
		return nil, trade.RunReport{}, err
	}
	if r := reports[0]; r.Stopped != nil {
		return nil, r, errors.New(v.Stop(*r.Stopped))
	}
	return plan, reports[0], nil
}
