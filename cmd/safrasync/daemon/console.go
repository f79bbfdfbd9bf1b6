package daemon

import (
	"context"
	"net"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/console"
	"github.com/safrasync/safrasync/console/auth"
	"github.com/safrasync/safrasync/console/pages"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/state"
)

// consoleServer serves the console. It outlives the generations of the configuration.
type consoleServer struct {
	server *console.Server
	place  consolePlace
}

// consolePlace is what decides whether a new listener is needed.
type consolePlace struct{ address, cert, key string }

func placeOf(c config.ConsoleConfig) consolePlace {
	return consolePlace{c.Listen, c.CertFile, c.KeyFile}
}

// listen opens the configured address. It returns nil if that address is already served, or if none
// is configured.
func (s *consoleServer) listen(ctx context.Context, c config.ConsoleConfig) (net.Listener, error) {
	place := placeOf(c)
	if _, err := serverTLS("console", c.CertFile, c.KeyFile); err != nil && c.Listen != "" {
		return nil, err
	}
	if c.Listen == "" || s.server != nil && place == s.place {
		return nil, nil //nolint:nilnil // nothing to open is no error
	}
	// same address, but TLS changes: the address must be free first
	if s.server != nil && place.address == s.place.address {
		s.close()
	}
	return listenAt(ctx, "console.listen", c.Listen)
}

// serve lets a generation answer at its address.
func (s *consoleServer) serve(g *generation, listener net.Listener) {
	c := g.Config.Console
	if c.Listen == "" {
		s.close()
		return
	}
	secure, err := serverTLS("console", c.CertFile, c.KeyFile)
	if err != nil { // listen has read it a moment ago
		g.daemon.log.Error("the certificate of the console cannot be read", zap.Error(err))
		return
	}
	if listener == nil && s.server == nil {
		return
	}
	next := NewConsole(g.App, g.daemon.store, g.office, g.daemon.monitor.refusals.Of("console"))
	if listener != nil {
		s.close()
		s.server, s.place = console.Serve(listener, secure, g.daemon.log), placeOf(c)
	}
	s.server.Show(next)
	if listener != nil { // after Show: whoever reads this line can use the console at once
		g.daemon.log.Info("the console is served", zap.String("address", listener.Addr().String()),
			zap.Bool("tls", secure != nil))
	}
}

// close closes the listener; requests in progress get a few seconds.
func (s *consoleServer) close() {
	if s.server != nil {
		s.server.Close()
		s.server, s.place = nil, consolePlace{}
	}
}

// loginsEvery is when expired logins are removed: every hour.
type loginsEvery struct{}

func (loginsEvery) Next(after time.Time) time.Time { return after.Add(time.Hour) }

// NewConsole builds the console on an office and the logins of its ledger. refused counts what
// strangers are refused.
func NewConsole(a *cli.App, store *state.Store, o *office.Office,
	refused func(cause string, err error),
) *console.Console {
	c := a.Config.Console
	proxy, _ := config.ProxyPrefix(c.Behind)
	openID, err := a.Config.OpenID()
	if err != nil { // log-ins by password work all the same
		a.Logger().Error("the login by OpenID Connect cannot be offered", zap.Error(err))
	}
	sessions := auth.New(auth.Parts{Users: o, Logins: store, OpenID: openID, Idle: c.Idle, Most: config.LongestLogin})
	return console.New(console.Parts{
		Site: web.Site{
			Name: c.Name, Lang: a.Lang(), Zone: a.Config.Zone(), Secure: c.CertFile != "" || c.Behind != "",
			Environment: c.Environment, Now: office.Now, Log: bounded(a.Logger(), linesMost), Refused: refused,
		},
		Sessions: sessions,
		Pages:    pages.New(o, sessions),
		Hosts:    c.AllHosts(), Behind: proxy,
	})
}

// linesMost is how many equal lines of the console the log gets in a minute. While the ledger is
// down each request is one, and the system's log drops lines about sending when there are too many.
const linesMost = 60

// bounded returns a logger with at most so many equal lines in a minute.
func bounded(log *zap.Logger, most int) *zap.Logger {
	return log.WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core {
		return zapcore.NewSamplerWithOptions(core, time.Minute, most, 0)
	}))
}
