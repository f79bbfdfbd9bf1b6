package daemon

import (
	"context"
	"net"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/cmd/safrasync/config"
	"github.com/safrasync/safrasync/cmd/safrasync/desk"
	"github.com/safrasync/safrasync/console"
	"github.com/safrasync/safrasync/console/auth"
	engine "github.com/safrasync/safrasync/sync"
)

// consoleServer is where browsers find the daemon. It outlives the generations of the
// configuration.
type consoleServer struct {
	server *console.Server
	place  consolePlace
}

// consolePlace is what a listener is opened for.
type consolePlace struct {
	address string
	tls     bool
}

func placeOf(c config.ConsoleConfig) consolePlace { return consolePlace{c.Listen, c.CertFile != ""} }

// openConsole begins to serve the console. An address that is taken keeps the service from nothing
// else.
func (d *daemon) openConsole(ctx context.Context, g *generation) {
	listener, err := d.console.listen(ctx, g.Config.Console)
	if err != nil {
		g.trouble("console", g.Text("run.no_console", firstLine(g.Voice(), err)), err)
		return
	}
	d.console.serve(g, listener)
}

// listen opens an address, if it is another one than that which is served; nil when it is the same,
// or none.
func (s *consoleServer) listen(ctx context.Context, c config.ConsoleConfig) (net.Listener, error) {
	place := placeOf(c)
	if _, err := c.Certificate(); err != nil && c.Listen != "" {
		return nil, err
	}
	if c.Listen == "" || s.server != nil && place == s.place {
		return nil, nil //nolint:nilnil // nothing to open is no error
	}
	// with another certificate, or none: the address must be free first
	if s.server != nil && place.address == s.place.address {
		s.close()
	}
	return console.Listen(ctx, c.Listen)
}

// serve makes a generation the one that answers, at its address.
func (s *consoleServer) serve(g *generation, listener net.Listener) {
	c := g.Config.Console
	if c.Listen == "" {
		s.close()
		return
	}
	cert, err := c.Certificate()
	if err != nil { // listen has read it, a moment ago
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
	if listener != nil { // whoever reads this finds it ready
		g.daemon.log.Info("the console is served", zap.String("address", listener.Addr().String()),
			zap.Bool("tls", cert != nil))
	}
}

// close ends the listener; what is being answered has a few seconds.
func (s *consoleServer) close() {
	if s.server != nil {
		s.server.Close()
		s.server, s.place = nil, consolePlace{}
	}
}

// loginsEvery is how often logins that are over are forgotten.
type loginsEvery struct{}

func (loginsEvery) Next(after time.Time) time.Time { return after.Add(time.Hour) }

// loginsTask forgets what is over of logins.
func (g *generation) loginsTask() engine.Task {
	return engine.Task{Name: "logins", Schedule: loginsEvery{}, Run: func(ctx context.Context) error {
		return auth.Prune(ctx, g.daemon.store, cli.Now(), g.Config.Console.Idle, g.Config.Console.Longest)
	}}
}

// host is what the console needs of this generation.
func (g *generation) host() *desk.Host {
	return &desk.Host{
		App: g.App, Store: g.daemon.store, Engine: g.engine, Scheduler: g.scheduler, Board: g.board, Log: g.daemon.log,
	}
}
