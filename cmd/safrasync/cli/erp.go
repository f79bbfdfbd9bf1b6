package cli

import (
	"context"
	"net/http"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/sync/run"
)

// LateSource is an ERP that is opened when it is read. If it cannot be opened, every read returns the
// reason. A run then reports and records this as what stopped its jobs, as with an ERP that is lost
// later.
type LateSource func(ctx context.Context) (*erp.Source, error)

var _ run.Source = LateSource(nil)

// Unreachable returns a Source for an ERP that could not be opened.
func Unreachable(err error) LateSource {
	return func(context.Context) (*erp.Source, error) { return nil, err }
}

// late asks an ERP that is opened for it, or returns why it cannot be opened.
func late[T any](ctx context.Context, open LateSource, ask func(*erp.Source) (T, error)) (answer T, err error) {
	source, err := open(ctx)
	if err != nil {
		return answer, err
	}
	return ask(source)
}

// Columns queries the ERP.
func (open LateSource) Columns(ctx context.Context, sql string) ([]erp.Column, error) {
	return late(ctx, open, func(s *erp.Source) ([]erp.Column, error) { return s.Columns(ctx, sql) })
}

// Read queries the ERP.
func (open LateSource) Read(ctx context.Context, q erp.Query, w erp.Window, fn func(erp.Row) error) (erp.Result,
	error,
) {
	return late(ctx, open, func(s *erp.Source) (erp.Result, error) { return s.Read(ctx, q, w, fn) })
}

// ByKeys queries the ERP.
func (open LateSource) ByKeys(ctx context.Context, q erp.Query, keys [][]erp.Value) ([]erp.Row, error) {
	return late(ctx, open, func(s *erp.Source) ([]erp.Row, error) { return s.ByKeys(ctx, q, keys) })
}

// Explain queries the ERP.
func (open LateSource) Explain(ctx context.Context, q erp.Query, key []string) (erp.Exclusion, error) {
	return late(ctx, open, func(s *erp.Source) (erp.Exclusion, error) { return s.Explain(ctx, q, key) })
}

// BeforeCutOver queries the ERP.
func (open LateSource) BeforeCutOver(ctx context.Context, q erp.Query, keys [][]string) ([]erp.Row, error) {
	return late(ctx, open, func(s *erp.Source) ([]erp.Row, error) { return s.BeforeCutOver(ctx, q, keys) })
}

// Table queries the ERP.
func (open LateSource) Table(ctx context.Context, sql string, columns []string, fn func([]erp.Value) error) error {
	source, err := open(ctx)
	if err != nil {
		return err
	}
	return source.Table(ctx, sql, columns, fn)
}

// OpenSource connects to the ERP. If that fails, it returns the error and, beside it, a source
// whose every read returns that error.
func (a *App) OpenSource(ctx context.Context) (run.Source, error) {
	source, err := a.OpenERP(ctx)
	if err != nil {
		return Unreachable(err), err
	}
	return source, nil
}

// Passes reports whether a refusal of the webhooks proves nothing about sending: the key works, and
// only that module is not contracted or does not exist.
func Passes(e *apiclient.CallError) bool {
	return e.HasMessage("message.module.not-contracted") || e.Status == http.StatusNotFound && e.APIForm()
}
