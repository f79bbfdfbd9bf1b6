package daemon

import (
	"context"
	"errors"
	"net"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/httpapi"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

// apiServer serves the HTTP API. It outlives the generations of the configuration.
type apiServer struct {
	server *httpapi.Listener
	place  config.HTTPAPIConfig
}

// listen opens the configured address. It returns nil if the current listener can stay, or if none
// is configured.
func (s *apiServer) listen(ctx context.Context, c config.HTTPAPIConfig) (net.Listener, error) {
	if _, err := serverTLS("http_api", c.CertFile, c.KeyFile); err != nil {
		return nil, err
	}
	same := s.place.Listen == c.Listen && s.place.CertFile == c.CertFile && s.place.KeyFile == c.KeyFile
	if !c.Used() || s.server != nil && same {
		return nil, nil //nolint:nilnil // nothing to open is no error
	}
	if s.server != nil && s.place.Listen == c.Listen { // same address, new certificate: it must be free first
		s.close()
	}
	return httpapi.Listen(ctx, c.Listen)
}

// serve lets a generation answer other programs.
func (s *apiServer) serve(g *generation, listener net.Listener) error {
	c := g.Config.HTTPAPI
	switch {
	case !c.Used():
		s.close()
		return nil
	case listener == nil && s.server != nil:
		s.server.Show(g.httpAPI())
		return nil
	case listener == nil:
		return nil
	}
	secure, err := serverTLS("http_api", c.CertFile, c.KeyFile)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	s.close()
	s.server, s.place = httpapi.Serve(listener, secure, g.httpAPI()), c
	g.daemon.log.Info("http_api is served", zap.String("address", listener.Addr().String()),
		zap.Bool("tls", secure != nil))
	return nil
}

// close closes the listener; requests in progress get a few seconds.
func (s *apiServer) close() {
	if s.server != nil {
		s.server.Close()
		s.server, s.place = nil, config.HTTPAPIConfig{}
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
