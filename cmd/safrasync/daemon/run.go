package daemon

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	gosync "sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/console"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/connlimit"
	"github.com/safrasync/safrasync/internal/httpapi"
	"github.com/safrasync/safrasync/internal/metrics"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/systemd"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// NewCommand makes the command run. It runs the jobs on their schedules until ctx ends, which the first
// SIGTERM causes. A wrong configuration or ledger ends it at once (exit codes 78 and 1). An ERP or an API
// that is down is reported, and tried again.
func NewCommand(a *cli.App) *cobra.Command {
	return a.Command("run", "the service: runs the jobs on their schedules until it is stopped", cli.Exactly(0), func(ctx context.Context, _ []string) error {
		signals := make(chan os.Signal, 1)
		hangups := make(chan os.Signal, 1)
		// Registered before anything else, so that no signal ends the process at once. The first
		// SIGTERM ends ctx; further ones change nothing.
		signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
		signal.Notify(hangups, syscall.SIGHUP)
		defer signal.Stop(signals)
		defer signal.Stop(hangups)
		d := &daemon{App: a, level: zap.NewAtomicLevel(), hangups: hangups, begun: office.Now()}
		d.log = cli.NewLeveledLogger(a.Stderr, d.level)
		d.manager.Failed = func(err error) { d.log.Warn("systemd", zap.Error(err)) }
		config, err := a.LoadConfig()
		if err != nil {
			return d.refuse(err)
		}
		d.level.SetLevel(config.Log.ZapLevel())
		if mode := config.OthersMayWrite(); mode != 0 {
			d.log.Warn("others than its owner may change the configuration, and with it where the data is sent; run chmod go-w",
				zap.String("file", config.File()), zap.Stringer("mode", mode))
		}
		err = d.openLedger(ctx, config)
		if ctx.Err() != nil {
			return nil // ended before it started
		} else if err != nil {
			return d.refuse(err)
		}
		release, err := d.store.Serve()
		if err != nil {
			return d.refuse(err)
		}
		a.Closers = append(a.Closers, release)
		if err := d.store.Announce(ctx, d.Version, d.begun); err != nil {
			return d.refuse(err)
		}
		d.said.beat = d.begun
		defer func() {
			d.telling.Wait()
			if err := d.store.Withdraw(context.WithoutCancel(ctx)); err != nil {
				d.log.Warn("the ledger was not told that the service ended", zap.Error(err))
			}
		}()
		over := make(chan struct{})
		defer close(over)
		go func() { // signals after the first one change nothing; the log explains why the process is still running
			for first := true; ; first = false {
				select {
				case <-over:
					return
				case <-signals:
				}
				if !first {
					d.log.Info(
						"already stopping: the requests in flight are awaited, so that nobody has to find out what became of them")
				}
			}
		}()
		return d.serve(ctx, config)
	})
}

// daemon is one process of `safrasync run`.
type daemon struct {
	*cli.App
	log     *zap.Logger
	level   zap.AtomicLevel
	store   *state.Store
	manager systemd.Manager
	hangups chan os.Signal // SIGHUP: reload
	begun   time.Time
	said    statusLine
	telling gosync.WaitGroup // goroutines of tell
	monitor *monitor
	console endpoint[*console.Console]
	events  *eventReceiver

	programs endpoint[*httpapi.API]
}

// ledgerAgain is how long the service waits before it opens a ledger again that it cannot use yet.
const ledgerAgain = 5 * time.Second

// openLedger opens the ledger. It waits for a PostgreSQL ledger whose server is away, or that the
// hosts have to confirm after a fail-over, because each attempt reports that this host is in step; and
// for one that is older than its journal. Between two attempts nothing of it is open or locked, so
// `safrasync rebuild` and `restore` can take it; that they have it is no reason to end. The service
// manager takes the service for started meanwhile: it would give up long before the servers come back.
// People are told, because it may be that only they can end it.
func (d *daemon) openLedger(ctx context.Context, config *config.Config) error {
	people, err := office.Alerts(config, d.Voice(), nil, d.log)
	if err != nil {
		return err
	}
	told := ""
	for ctx.Err() == nil {
		d.store, err = d.OpenLedger(ctx, cli.ToWrite)
		people.JudgeLedger(ctx, err)
		fault := cli.LedgerFault(err)
		if fault == nil || told == "" && !passes(fault) {
			return err
		}
		if text := d.Text("waits for the ledger: %s", firstLine(d.Voice(), err)); text != told {
			d.log.Warn("waiting for the ledger", zap.Error(err))
			d.manager.Ready(text)
			told = text
		}
		d.manager.Alive()
		select {
		case <-ctx.Done():
		case <-time.After(ledgerAgain):
		}
	}
	return ctx.Err()
}

// passes reports whether a fault of the ledger may end without a start of this service: a newer server
// is brought back, or `safrasync rebuild` adds what this host's journal has.
func passes(fault *state.Error) bool {
	return fault.Code == state.CodeUnreachable || fault.Code == state.CodeServer || fault.Code == state.CodeRolledBack
}

// refuse reports to the service manager why the service does not start. It returns err, which the
// caller prints.
func (d *daemon) refuse(err error) error {
	d.manager.Stopping(d.Text("did not start: %s", firstLine(d.Voice(), err)))
	return err
}

// serve runs one generation of the configuration after the other. Each has an engine and a
// scheduler of its own; the ledger stays open.
func (d *daemon) serve(ctx context.Context, conf *config.Config) error {
	m := &monitor{log: d.log}
	m.Metrics = metrics.New(metrics.Settings{
		Ledger: office.LiveStatus{Store: d.store}, Version: d.Version, Now: office.Now,
		Jobs: func() []string {
			return trade.Map(m.current.Load().Config.Jobs, func(j config.JobConfig) string { return j.Name })
		},
		// An ERP or an API that is down is no reason: it is tried again, and has metrics of its own.
		Unready: func() []string {
			var reasons []string
			g := m.current.Load()
			if !g.scheduler.Lives() {
				reasons = append(reasons, "the pass that is on its way hangs")
			}
			ctx, cancel := context.WithTimeout(context.Background(), readyWithin)
			defer cancel()
			if _, err := d.store.JobStatus(ctx, g.Config.Jobs[0].Name); err != nil {
				reasons = append(reasons, "the ledger cannot be read: "+firstLine(words.Machine, err))
			}
			return reasons
		},
	})
	m.refusals = &connlimit.Refusals{Count: m.Refused, Tell: func(listener, cause string, times int, last error) {
		m.log.Warn("requests of strangers were refused, or found no place; the next line about it is a minute away",
			zap.String("listener", listener), zap.String("cause", cause), zap.Int("times", times),
			zap.NamedError("last", last))
	}}
	d.monitor = m
	defer d.monitor.close()
	listener, err := listenNew(ctx, "metrics.listen", conf.Metrics.Listen, d.monitor.address)
	if err != nil {
		return d.refuse(err)
	}
	g, err := d.generation(conf, true)
	if err != nil {
		return d.refuse(err)
	}
	d.events = &eventReceiver{daemon: d, log: bounded(d.log, 1), told: make(chan struct{}, 1)}
	defer d.events.close()
	if err := d.events.serve(ctx, conf.Webhooks, nil); err != nil {
		return d.refuse(err)
	}
	d.monitor.serve(g, listener)
	d.console = endpoint[*console.Console]{
		section: "console", served: "the console is served",
		place: func(c *config.Config) place { return place{c.Console.Listen, c.Console.CertFile, c.Console.KeyFile} },
		answers: func(g *generation) *console.Console {
			return NewConsole(g.App, d.store, g.office, m.refusals.Of("console"))
		},
		start: func(l net.Listener, secure *tls.Config, c *console.Console) server[*console.Console] {
			s := console.Serve(l, secure, d.log)
			s.Show(c)
			return s
		},
	}
	defer d.console.close()
	// If an address is in use, the rest of the service starts all the same.
	listener, err = d.console.listen(ctx, conf)
	if err == nil {
		err = d.console.serve(g, listener)
	}
	if err != nil {
		g.notServed("console", "console: %s", err)
	}
	d.programs = endpoint[*httpapi.API]{
		section: "http_api", served: "http_api is served",
		place:   func(c *config.Config) place { return place{c.HTTPAPI.Listen, c.HTTPAPI.CertFile, c.HTTPAPI.KeyFile} },
		answers: (*generation).httpAPI,
		start: func(l net.Listener, secure *tls.Config, api *httpapi.API) server[*httpapi.API] {
			return httpapi.Serve(l, secure, api)
		},
	}
	defer d.programs.close()
	g.feeder.Begin(ctx) // other programs can ask for changes from the first moment
	listener, err = d.programs.listen(ctx, conf)
	if err == nil {
		err = d.programs.serve(g, listener)
	}
	if err != nil {
		g.notServed("http_api", "the HTTP API for other programs is not available (http_api): %s", err)
	}
	d.log.Info("start", zap.String("version", d.Version), zap.Int("pid", os.Getpid()),
		zap.String("config", conf.File()), zap.Int("jobs", len(conf.Jobs)))
	d.noteConfig(ctx, conf, cli.ThisHost())
	g.check(ctx)
	d.manager.Ready(d.sentence(ctx, g))
	for {
		next := d.live(ctx, g)
		if next == nil {
			break
		}
		g = next
	}
	d.log.Info("end", zap.Duration("after", office.Now().Sub(d.begun).Round(time.Second)))
	return nil
}

// live runs one generation. It returns nil when ctx ends, or the next generation after a reload.
func (d *daemon) live(ctx context.Context, g *generation) (next *generation) {
	running, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		var hearing gosync.WaitGroup
		hearing.Go(func() {
			if g.listener != nil {
				g.listener.Run(running, g.daemon.events.told)
			}
		})
		hearing.Go(func() { g.feeder.Run(running) })
		if g.heartbeat != nil {
			hearing.Go(func() { g.heartbeat.Run(running) })
		}
		g.scheduler.Run(running)
		hearing.Wait()
	}()
	defer g.close()
	for {
		select {
		case <-ctx.Done():
			d.manager.Stopping(g.Text("stopping: waiting for the answers to requests already sent"))
			d.log.Info("stopping: what is in flight is awaited")
			d.console.close() // from now on nobody can order anything
			d.programs.close()
			<-done
			return nil
		case <-d.hangups:
		}
		next = d.reload(ctx, g)
		if next == nil {
			continue
		}
		stop()
		<-done
		next.feeder.Begin(ctx) // what the last one said of who may ask holds no longer
		d.manager.Ready(d.sentence(ctx, next))
		return next
	}
}

// firstLine returns an error as one line in the reader's language.
func firstLine(v words.Voice, err error) string {
	text := v.Fault(err)
	if faulty, ok := errors.AsType[*config.Error](err); ok && len(faulty.Faults) > 0 {
		f := faulty.Faults[0]
		text = fmt.Sprintf("%s:%d: %s %s", f.File, f.Line, f.Path, v.Fault(f.Text))
	}
	line, _, _ := strings.Cut(text, "\n")
	return line
}
