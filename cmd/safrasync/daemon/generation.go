package daemon

import (
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/cmd/safrasync/config"
	"github.com/safrasync/safrasync/cmd/safrasync/desk"
	"github.com/safrasync/safrasync/internal/systemd"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/events"
	"github.com/safrasync/safrasync/sync/sending"
	"github.com/safrasync/safrasync/trade"
)

// generation is what one reading of the configuration made: a reload makes the next.
type generation struct {
	*cli.App  // with a configuration and connections of its own
	daemon    *daemon
	source    *reconnecting
	engine    *cli.Engine
	scheduler *engine.Scheduler
	listener  *events.Processor // nil without webhooks
	board     *desk.Board       // how far the runs have come
	troubles  []string          // what did not pass the checks at its beginning
}

// generation makes everything that a configuration asks for; nothing connects yet. atStart: the
// process has just started.
func (d *daemon) generation(config *config.Config, atStart bool) (*generation, error) {
	g := &generation{daemon: d, App: &cli.App{
		Stdin: d.Stdin, Stdout: d.Stdout, Stderr: d.Stderr, Env: d.Env, Version: d.Version,
		ConfigPath: d.ConfigPath, Out: d.Out,
		Ended: d.Ended, Config: config, Log: d.log,
	}}
	g.source, g.board = &reconnecting{app: g.App}, desk.NewBoard()
	g.ObserveAPI = g.called
	var err error
	if g.engine, err = g.OpenEngine(d.store, cli.Source(g.source.open), g.board.Observe); err != nil {
		return nil, errors.Join(err, g.App.Close())
	}
	tasks, err := g.housekeeping()
	if err != nil {
		return nil, errors.Join(config.Annotate(err), g.App.Close())
	}
	if config.Webhooks.Used() {
		if g.listener, err = g.Hearing(d.store); err != nil {
			return nil, errors.Join(err, g.App.Close())
		}
	}
	watchdog, err := systemd.Watchdog()
	if err != nil {
		return nil, errors.Join(err, g.App.Close())
	}
	g.scheduler, err = engine.NewScheduler(engine.SchedulerConfig{
		Engine: g.engine.Engine, AtStart: atStart, Reported: g.reported, Housekeeping: tasks,
		Alive: g.alive, WakeMost: watchdog / 3, Patience: longestWait(config),
	})
	if err != nil {
		return nil, errors.Join(config.Annotate(err), g.App.Close())
	}
	return g, nil
}

// housekeeping are the tasks that run on schedules of their own.
func (g *generation) housekeeping() ([]engine.Task, error) {
	alerts, err := g.alertTasks()
	if err != nil {
		return nil, err
	}
	retention, err := g.retentionTask()
	return append(alerts, retention, g.loginsTask()), err
}

// reported is told of each run of a job.
func (g *generation) reported(r trade.RunReport) {
	fields := []zap.Field{
		zap.String("job", r.Job), zap.String("run", r.ID),
		zap.Duration("duration", r.EndedAt.Sub(r.StartedAt).Round(time.Millisecond)), zap.Bool("sweep", r.Sweep),
		zap.Int("read", r.Read), zap.Int("new", r.New), zap.Int("changed", r.Changed), zap.Int("sent", r.Sent),
	}
	if r.Stopped != nil {
		fields = append(fields, zap.String("stopped", r.Stopped.Code))
	}
	g.daemon.monitor.Reported(r)
	g.daemon.log.Info("run", fields...) // who reads of a run finds it in the metrics
	g.daemon.tell(g)
}

// called is told of each request to the platform.
func (g *generation) called(o apiclient.Observation) {
	g.daemon.monitor.Called(o.Operation, o.Status, o.Outcome, o.Took)
}

// alive feeds the watchdog, and keeps up to date what others are told of the service.
func (g *generation) alive() {
	g.daemon.manager.Alive()
	g.daemon.tell(g)
}

// close gives the connections of a generation back.
func (g *generation) close() {
	if err := errors.Join(g.source.close(), g.App.Close()); err != nil {
		g.daemon.log.Warn("closing", zap.Error(err))
	}
}

// stallMargin is what a pass may take beyond its longest wait before it counts as hanging.
const stallMargin = 2 * time.Minute

// longestWait is how long a pass that is well may show nothing: one query of the ERP, one request
// with its answer, or a rest that the API asked for.
func longestWait(c *config.Config) time.Duration {
	return max(c.ERP.StatementTimeout, c.API.Timeout, sending.LongestRest) + stallMargin
}
