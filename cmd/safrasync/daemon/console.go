package daemon

import (
	"context"
	"net"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/cmd/safrasync/desk"
	"github.com/safrasync/safrasync/console"
	"github.com/safrasync/safrasync/console/auth"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/office"
	engine "github.com/safrasync/safrasync/sync"
)

// consoleServer serves the console. It outlives the generations of the configuration.
type consoleServer struct {
	server *console.Server
	place  consolePlace
}

// consolePlace is what decides whether a new listener is needed.
type consolePlace struct {
	address string
	tls     bool
}

func placeOf(c config.ConsoleConfig) consolePlace { return consolePlace{c.Listen, c.CertFile != ""} }

// openConsole starts to serve the console. If its address is in use, the rest of the service starts
// all the same.
func (d *daemon) openConsole(ctx context.Context, g *generation) {
	listener, err := d.console.listen(ctx, g.Config.Console)
	if err != nil {
		g.notServed("console", "run.no_console", err)
		return
	}
	d.console.serve(g, listener)
}

// listen opens the configured address. It returns nil if that address is already served, or if none
// is configured.
func (s *consoleServer) listen(ctx context.Context, c config.ConsoleConfig) (net.Listener, error) {
	place := placeOf(c)
	if _, err := c.Certificate(); err != nil && c.Listen != "" {
		return nil, err
	}
	if c.Listen == "" || s.server != nil && place == s.place {
		return nil, nil //nolint:nilnil // nothing to open is no error
	}
	// same address, but TLS changes: the address must be free first
	if s.server != nil && place.address == s.place.address {
		s.close()
	}
	return console.Listen(ctx, c.Listen)
}

// serve lets a generation answer at its address.
func (s *consoleServer) serve(g *generation, listener net.Listener) {
	c := g.Config.Console
	if c.Listen == "" {
		s.close()
		return
	}
	cert, err := c.Certificate()
	if err != nil { // listen has read it a moment ago
		g.daemon.log.Error("the certificate of the console cannot be read", zap.Error(err))
		return
	}
	if listener == nil && s.server == nil {
		return
	}
	next := g.host().Console()
	if listener != nil {
		s.close()
		s.server, s.place = console.Serve(listener, cert, g.daemon.log), placeOf(c)
	}
	s.server.Show(next, cert)
	if listener != nil { // after Show: whoever reads this line can use the console at once
		g.daemon.log.Info("the console is served", zap.String("address", listener.Addr().String()),
			zap.Bool("tls", cert != nil))
	}
}

// close closes the listener; requests in progress get a few seconds.
func (s *consoleServer) close() {
	if s.server != nil {
		s.server.Close()
		s.server, s.place = nil, consolePlace{}
	}
}

// loginsEvery is the schedule of loginsTask: every hour.
type loginsEvery struct{}

func (loginsEvery) Next(after time.Time) time.Time { return after.Add(time.Hour) }

// loginsTask removes expired logins.
func (g *generation) loginsTask() engine.Task {
	return engine.Task{Name: "logins", Schedule: loginsEvery{}, Run: func(ctx context.Context) error {
		return auth.Prune(ctx, g.daemon.store, office.Now(), g.Config.Console.Idle, g.Config.Console.Longest)
	}}
}

// host returns what the console needs of this generation.
func (g *generation) host() *desk.Host {
	return &desk.Host{
		App: g.App, Store: g.daemon.store, Engine: g.engine, Scheduler: g.scheduler, Board: g.board, Log: g.daemon.log,
		Refused: g.daemon.monitor.refusals.Of("console"),
	}
}
