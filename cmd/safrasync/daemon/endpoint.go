package daemon

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/console"
	"github.com/safrasync/safrasync/console/auth"
	"github.com/safrasync/safrasync/console/pages"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/connlimit"
	"github.com/safrasync/safrasync/internal/httpapi"
	"github.com/safrasync/safrasync/internal/metrics"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// endpoint serves a section of the configuration at its address. It outlives the generations of the
// configuration, each of which has its own T, that answers.
type endpoint[T any] struct {
	section string
	served  string // what the log says when it answers
	place   func(*config.Config) place
	answers func(*generation) T
	start   func(net.Listener, *tls.Config, T) server[T]
	server  server[T] // nil: nothing is served
	at      place     // where it is served
}

// server answers at an address until Close: with what Show gave it last.
type server[T any] interface {
	Show(next T)
	Close()
}

// place is what decides whether a new listener is needed.
type place struct{ address, cert, key string }

// listen opens the configured address. It returns nil if the current listener can stay, or if none
// is configured.
func (e *endpoint[T]) listen(ctx context.Context, c *config.Config) (net.Listener, error) {
	p := e.place(c)
	if _, err := serverTLS(e.section, p.cert, p.key); err != nil && p.address != "" {
		return nil, err
	}
	if p.address == "" || e.server != nil && p == e.at {
		return nil, nil //nolint:nilnil // nothing to open is no error
	}
	if p.address == e.at.address { // another certificate: the address must be free first
		e.close()
	}
	return listenAt(ctx, e.section+".listen", p.address)
}

// serve lets a generation answer at its address.
func (e *endpoint[T]) serve(g *generation, listener net.Listener) error {
	p := e.place(g.Config)
	switch {
	case p.address == "":
		e.close()
		return nil
	case listener == nil && e.server != nil:
		e.server.Show(e.answers(g))
		return nil
	case listener == nil:
		return nil
	}
	secure, err := serverTLS(e.section, p.cert, p.key)
	e.close() // also if the certificate cannot be read: what it served is no longer configured
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	e.server, e.at = e.start(listener, secure, e.answers(g)), p
	// whoever reads this line can use it at once
	g.daemon.log.Info(e.served, zap.String("address", listener.Addr().String()), zap.Bool("tls", secure != nil))
	return nil
}

// close closes the listener; requests in progress get a few seconds.
func (e *endpoint[T]) close() {
	if e.server != nil {
		e.server.Close()
		e.server, e.at = nil, place{}
	}
}

// httpAPI returns the handler for other programs of a generation.
func (g *generation) httpAPI() *httpapi.API {
	c := g.Config.HTTPAPI
	tokens := trade.Map(c.Tokens, func(t config.TokenConfig) httpapi.Token {
		return httpapi.NewToken(t.Name, t.Token.Reveal(), t.Scopes...)
	})
	return httpapi.New(httpapi.Settings{
		Office: g.office, Tokens: tokens, Rate: httpapi.DefaultRate, Version: g.Version, Now: office.Now,
		Log:     g.daemon.log,
		Refused: g.daemon.monitor.refusals.Of("http_api"),
	})
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

// monitor serves the metrics and the health of the daemon. It outlives the generations of the
// configuration, so that its counters continue.
type monitor struct {
	*metrics.Metrics
	log      *zap.Logger
	refusals *connlimit.Refusals // of all listeners
	current  atomic.Pointer[generation]
	address  string // as configured; "" = none
	server   *connlimit.Serving
}

// readyWithin is how long the ledger may take to answer a health check.
const readyWithin = 5 * time.Second

// serve makes a generation the one that is monitored, at its address.
func (m *monitor) serve(g *generation, listener net.Listener) {
	m.current.Store(g)
	if g.Config.Metrics.Listen == m.address {
		return
	}
	m.close()
	m.address = g.Config.Metrics.Listen
	if listener == nil {
		return
	}
	refused := m.refusals.Of("metrics")
	bounded := &connlimit.Listener{
		Listener: listener, Most: metricsMost, Each: MetricsEach, OnRefused: func() { refused("connection", nil) },
	}
	m.server = connlimit.Serve(&http.Server{
		Handler: m.Handler(), ReadTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10, ErrorLog: zap.NewStdLog(m.log),
	}, bounded, nil, m.log, "metrics are no longer served")
	m.log.Info("metrics are served", zap.String("address", listener.Addr().String()))
}

// The most connections to the metrics, in all and from one address. Few programs scrape them, and
// the file descriptors are needed for sending.
const (
	metricsMost = 32
	MetricsEach = 16
)

// close closes the listener and cuts requests in progress.
func (m *monitor) close() {
	if m.server != nil {
		m.server.Close(0)
		m.server, m.address = nil, ""
	}
}
