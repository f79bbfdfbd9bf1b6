package daemon

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/console/auth"
	"github.com/safrasync/safrasync/internal/config"
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
	board := office.NewBoard()
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
			d.tell(g)
		},
		Alive: func() { // the watchdog is notified, and the status of the service updated
			d.manager.Alive()
			d.tell(g)
		},
		// a healthy pass makes no progress during a query, a request, or a pause that the API asked for
		Patience: max(conf.ERP.StatementTimeout, conf.API.Timeout, sending.LongestRest) + stallMargin,
	})
	if err != nil {
		return nil, errors.Join(conf.Annotate(err), g.App.Close())
	}
	g.office = office.New(office.Means{
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
