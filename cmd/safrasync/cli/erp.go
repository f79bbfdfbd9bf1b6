package cli

import (
	"context"
	"net/http"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/sync/run"
)

// Source is an ERP that is opened when it is read. Where that does not work every reading ends with
// the reason: a run then reports and records it as what stopped its jobs, like an ERP that goes away
// later.
type Source func(ctx context.Context) (*erp.Source, error)

var _ run.Source = Source(nil)

// Unreachable stands in for an ERP that could not be opened.
func Unreachable(err error) Source {
	return func(context.Context) (*erp.Source, error) { return nil, err }
}

// Columns asks the ERP, or returns why it cannot be read.
func (open Source) Columns(ctx context.Context, sql string) ([]erp.Column, error) {
	source, err := open(ctx)
	if err != nil {
		return nil, err
	}
	return source.Columns(ctx, sql)
}

// Read asks the ERP, or returns why it cannot be read.
func (open Source) Read(ctx context.Context, q erp.Query, w erp.Window, fn func(erp.Row) error) (erp.Result, error) {
	source, err := open(ctx)
	if err != nil {
		return erp.Result{}, err
	}
	return source.Read(ctx, q, w, fn)
}

// ByKeys asks the ERP, or returns why it cannot be read.
func (open Source) ByKeys(ctx context.Context, q erp.Query, keys [][]erp.Value) ([]erp.Row, error) {
	source, err := open(ctx)
	if err != nil {
		return nil, err
	}
	return source.ByKeys(ctx, q, keys)
}

// Explain asks the ERP, or returns why it cannot be read.
func (open Source) Explain(ctx context.Context, q erp.Query, key []string) (erp.Exclusion, error) {
	source, err := open(ctx)
	if err != nil {
		return erp.Exclusion{}, err
	}
	return source.Explain(ctx, q, key)
}

// Table asks the ERP, or returns why it cannot be read.
func (open Source) Table(ctx context.Context, sql string, columns []string, fn func([]erp.Value) error) error {
	source, err := open(ctx)
	if err != nil {
		return err
	}
	return source.Table(ctx, sql, columns, fn)
}

// OpenSource connects to the ERP, or stands in for it with the reason why not.
func (a *App) OpenSource(ctx context.Context) (run.Source, error) {
	source, err := a.OpenERP(ctx)
	if err != nil {
		return Unreachable(err), err
	}
	return source, nil
}

// Passes reports whether a refusal of the webhooks says nothing about sending: the key works, only
// that module is not contracted or not there.
func Passes(e *apiclient.Error) bool {
	return e.HasMessage("message.module.not-contracted") || e.Status == http.StatusNotFound && e.APIForm()
}
