package daemon

import (
	"context"
	"crypto/tls"
	"errors"
	"net"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/httpapi"
	"github.com/safrasync/safrasync/internal/office"
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
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	e.close()
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
