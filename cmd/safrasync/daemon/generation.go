package daemon

import (
	"context"
	"errors"
	gosync "sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/console/auth"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/systemd"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/events"
	"github.com/safrasync/safrasync/sync/sending"
	"github.com/safrasync/safrasync/trade"
)

// generation is everything that is built from one reading of the configuration; a reload builds the
// next one.
type generation struct {
	*cli.App  // with its own configuration and connections
	daemon    *daemon
	source    *reconnecting
	engine    *engine.Engine
	scheduler *engine.Scheduler
	listener  *events.Processor // nil without webhooks
	heartbeat *office.Heartbeat // nil without alerts.heartbeat
	feeder    office.Feeder
	office    *office.Office
	troubles  []string // checks that failed at its start; they hold until a run shows more
	absent    []string // what is not served, and why; holds until a reload
}

// generation builds everything that a configuration asks for; nothing connects yet. atStart means
// that the process has just started.
func (d *daemon) generation(conf *config.Config, atStart bool) (*generation, error) {
	g := &generation{daemon: d, App: &cli.App{
		Stdin: d.Stdin, Stdout: d.Stdout, Stderr: d.Stderr, Env: d.Env, Version: d.Version,
		ConfigPath: d.ConfigPath, Out: d.Out,
		Ended: d.Ended, Config: conf, Log: d.log,
	}}
	g.source = &reconnecting{app: g.App}
	board := office.NewRunProgress()
	g.ObserveAPI = func(o apiclient.Observation) {
		d.monitor.Called(o.Operation, o.Status, o.Outcome, o.Took)
	}
	var err error
	g.engine, err = g.OpenEngine(d.store, cli.LateSource(g.source.open), false, board.Observe)
	if err != nil {
		return nil, errors.Join(err, g.App.Close())
	}
	tasks, err := g.alertTasks()
	if err != nil {
		return nil, errors.Join(conf.Annotate(err), g.App.Close())
	}
	schedule, err := clock.ParseSchedule(conf.Retention.Schedule, conf.Zone())
	if err != nil {
		return nil, errors.Join(conf.Annotate(err), g.App.Close())
	}
	// what `safrasync purge` does
	retention := engine.Task{Name: "retention", Schedule: schedule, Run: func(ctx context.Context) error {
		began := office.Now()
		if err := d.store.LapseApprovals(ctx, began); err != nil {
			return err
		}
		plan, err := d.store.Retain(ctx, conf.Retention.Ledger(), began, cli.ProgramRecord())
		if err != nil {
			return err
		}
		fields := []zap.Field{zap.Duration("duration", office.Now().Sub(began).Round(time.Millisecond))}
		for _, k := range plan {
			if k.Rows > 0 {
				fields = append(fields, zap.Int(k.Kind, k.Rows))
			}
		}
		d.log.Info("retention", fields...)
		return nil
	}}
	logins := engine.Task{Name: "logins", Schedule: loginsEvery{}, Run: func(ctx context.Context) error {
		return auth.Prune(ctx, d.store, office.Now(), conf.Console.Idle, config.LongestLogin)
	}}
	watchdog, err := systemd.Watchdog()
	if err != nil {
		return nil, errors.Join(err, g.App.Close())
	}
	g.heartbeat, err = office.NewHeartbeat(conf, d.store, d.log, d.monitor.Beat)
	if err != nil {
		return nil, errors.Join(err, g.App.Close())
	}
	g.feeder = office.NewFeeder(conf, d.store, d.log)
	g.scheduler, err = engine.NewScheduler(engine.SchedulerConfig{
		Engine: g.engine, AtStart: atStart, WakeMost: watchdog / 3,
		Housekeeping: append(tasks, retention, logins),
		Reported: func(r trade.RunReport) {
			fields := []zap.Field{
				zap.String("job", r.Job), zap.String("run", r.ID),
				zap.Duration("duration", r.EndedAt.Sub(r.StartedAt).Round(time.Millisecond)), zap.Bool("sweep", r.Sweep),
				zap.Int("read", r.Read), zap.Int("new", r.New), zap.Int("changed", r.Changed), zap.Int("sent", r.Sent),
			}
			if r.Stopped != nil {
				fields = append(fields, zap.String("stopped", r.Stopped.Code))
			}
			d.monitor.Reported(r)
			if g.heartbeat != nil {
				g.heartbeat.Due()
			}
			d.log.Info("run", fields...) // last: by now the metrics contain the run
			d.reportStatus(g)
		},
		Alive: func() { // the watchdog is notified, and the status of the service updated
			d.manager.Alive()
			d.reportStatus(g)
		},
		// a healthy pass makes no progress during a query, a request, or a pause that the API asked for
		Patience: max(conf.ERP.StatementTimeout, conf.API.Timeout, sending.LongestRest) + stallMargin,
	})
	if err != nil {
		return nil, errors.Join(conf.Annotate(err), g.App.Close())
	}
	g.office = office.New(office.Deps{
		Config: conf, Store: d.store, Jobs: g.engine.Jobs, Engine: g.engine, Scheduler: g.scheduler,
		Board: board, Log: d.log, Version: d.Version, Lang: g.Lang(), Now: office.Now,
	})
	g.Closers = append(g.Closers, func() error { g.office.Close(); return nil })
	if conf.Webhooks.Used() {
		g.listener, err = g.Listener(g.office)
		if err != nil {
			return nil, errors.Join(err, g.App.Close())
		}
	}
	return g, nil
}

// close closes the connections of a generation.
func (g *generation) close() {
	if err := errors.Join(g.source.close(), g.App.Close()); err != nil {
		g.daemon.log.Warn("closing", zap.Error(err))
	}
}

// stallMargin is how much longer than its longest wait a pass may take before it counts as hanging.
const stallMargin = 2 * time.Minute

// reconnecting is the daemon's connection to the ERP. It connects on first use, and tries again on
// each use until that succeeds. After that the pool of connections reconnects by itself.
type reconnecting struct {
	app *cli.App

	mu     gosync.Mutex
	source *erp.Source
}

func (r *reconnecting) open(ctx context.Context) (*erp.Source, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.source != nil {
		return r.source, nil
	}
	source, err := r.app.ConnectERP(ctx)
	if err != nil {
		return nil, err
	}
	r.source = source
	return source, nil
}

func (r *reconnecting) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.source == nil {
		return nil
	}
	return r.source.Close()
}

// alertEvery is how often alerts are evaluated and due messages are delivered.
const alertEvery = time.Minute

// alertTimes is the schedule of the alerts: at once when the service starts, even if an earlier
// process evaluated them a moment ago, and then every minute.
type alertTimes struct{ begun atomic.Bool }

// Next returns the first time after another one; until the first tick has begun, that is after
// itself.
func (a *alertTimes) Next(after time.Time) time.Time {
	if a.begun.Load() {
		return after.Add(alertEvery)
	}
	return after
}

// alertTasks returns the tasks that send alerts; none if there are no channels.
func (g *generation) alertTasks() ([]engine.Task, error) {
	service, err := office.Alerts(g.Config, g.Voice(), g.daemon.store, g.daemon.log)
	if err != nil || len(service.Channels) == 0 {
		return nil, err
	}
	if platform, ok := g.engine.Platform.(interface{ CertificateEnds() time.Time }); ok {
		service.Certificate = platform.CertificateEnds
	}
	times := &alertTimes{}
	return []engine.Task{{Name: "alerts", Schedule: times, Run: func(ctx context.Context) error {
		times.begun.Store(true)
		return service.Tick(ctx)
	}}}, nil
}

// checkTimeout is the time limit of each check of the ERP and of the API, before the service
// reports that it is ready.
const checkTimeout = 15 * time.Second

// check checks the ERP and the API, as `safrasync check` does. A failure never stops the start: an
// ERP or an API that is down comes back. A wrong configuration or ledger has stopped it earlier.
func (g *generation) check(ctx context.Context) {
	g.troubles = nil
	if err := g.checkERP(ctx); err != nil && ctx.Err() == nil {
		g.trouble("erp", g.Text("ERP: %s", firstLine(g.Voice(), err)), err)
	}
	asking, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	if err := g.engine.Platform.Probe(asking); err != nil && ctx.Err() == nil {
		g.trouble("api", g.Text("API: %s", firstLine(g.Voice(), err)), err)
	}
}

func (g *generation) trouble(what, text string, err error) {
	g.troubles = append(g.troubles, text)
	g.daemon.log.Warn("a check did not pass; the service goes on and tries again", zap.String("check", what),
		zap.Error(err))
}

// notServed notes that a part of the service does not answer, which holds until a reload, and logs it.
func (g *generation) notServed(what string, sentence i18n.Key, err error) {
	g.absent = append(g.absent, g.Text(sentence, firstLine(g.Voice(), err)))
	g.daemon.log.Error("a part of the service is not served; correct it and reload", zap.String("part", what),
		zap.Error(err))
}

// checkERP connects to the ERP, and compares each job with the columns of its query.
func (g *generation) checkERP(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	source, err := g.source.open(ctx)
	if err != nil {
		return err
	}
	if _, err := source.Facts(ctx); err != nil {
		return err
	}
	for _, job := range g.engine.Jobs {
		err = errors.Join(err, g.Config.Annotate(g.engine.Check(ctx, job)))
	}
	return err
}
