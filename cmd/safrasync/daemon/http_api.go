package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"net"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/httpapi"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/acts"
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
	tokens := make([]httpapi.Token, len(c.Tokens))
	for i, t := range c.Tokens {
		scopes := trade.Map(t.Scopes, func(s string) httpapi.Scope { return httpapi.Scope(s) })
		tokens[i] = httpapi.NewToken(t.Name, t.Token.Reveal(), scopes...)
	}
	return httpapi.New(httpapi.Settings{
		Engine: apiOffice{g.office}, Tokens: tokens, Rate: httpapi.DefaultRate, Version: g.Version, Now: office.Now,
		Log:     g.daemon.log,
		Refused: g.daemon.monitor.refusals.Of("http_api"),
	})
}

// apiOffice answers other programs with the answers that people get.
type apiOffice struct{ *office.Office }

// Run orders a run, as the console's "run now" does.
func (o apiOffice) Run(ctx context.Context, order httpapi.Order) error {
	err := o.OrderRun(ctx, order.Job, order.Sweep, trade.Person{
		Name: order.By, From: "http_api " + order.From,
		Role: acts.Order{Act: acts.ActRun, Sweep: order.Sweep}.Role(), // its token has the scope
	})
	if refused, ok := errors.AsType[*office.Refusal](err); ok {
		return &httpapi.Refusal{Code: refused.Code, Text: refused.Text}
	}
	return err
}

// Row returns the state of one row.
func (o apiOffice) Row(ctx context.Context, job, key, language string) (json.RawMessage, error) {
	row, err := o.ProgramRow(ctx, job, key, trade.ParseLang(language))
	if errors.Is(err, trade.ErrNotFound) {
		return nil, &httpapi.Refusal{Code: httpapi.UnknownRow, Text: "the ledger has no row with this job and key"}
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(row)
}

// Rows returns rows, and later their changes.
func (o apiOffice) Rows(ctx context.Context, asked httpapi.RowsAsked) (httpapi.RowsPage, error) {
	page := httpapi.RowsPage{Rows: []json.RawMessage{}}
	states := trade.Map(asked.States, func(s string) trade.State { return trade.State(s) })
	rows, cursor, more, err := o.ProgramRows(ctx, office.RowsAsked{
		Jobs: asked.Jobs, States: states, Since: asked.Since, Cursor: asked.Cursor, Limit: asked.Limit,
	}, trade.ParseLang(asked.Language))
	switch {
	case errors.Is(err, office.ErrCursor):
		return page, &httpapi.Refusal{Code: httpapi.WrongCursor, Text: err.Error()}
	case errors.Is(err, office.ErrCursorExpired):
		return page, &httpapi.Refusal{Code: httpapi.CursorExpired, Text: office.ErrCursorExpired.Error()}
	case errors.Is(err, trade.ErrNotFound):
		return page, &httpapi.Refusal{Code: httpapi.NotReady, Text: "the order of changes begins at this moment"}
	case err != nil:
		return page, err
	}
	for _, row := range rows {
		text, err := json.Marshal(row)
		if err != nil {
			return page, err
		}
		page.Rows = append(page.Rows, text)
	}
	page.Cursor, page.More = cursor, more
	return page, nil
}

// Status returns the jobs as `status --json` prints them.
func (o apiOffice) Status(ctx context.Context) ([]json.RawMessage, error) {
	all, err := o.Office.Status(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]json.RawMessage, len(all))
	for i, job := range all {
		out[i], err = json.Marshal(job)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
