package daemon

import (
	"context"
	gosync "sync"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/erp"
	enginerun "github.com/safrasync/safrasync/sync/run"
)

// reconnecting is the ERP of the daemon: it connects when it is first needed, and tries anew as
// long as that does not work. Once it is there, the pool of connections looks after itself.
type reconnecting struct {
	app *cli.App

	mu     gosync.Mutex
	source *erp.Source
}

var _ enginerun.Source = (*reconnecting)(nil)

func (r *reconnecting) open(ctx context.Context) (*erp.Source, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.source != nil {
		return r.source, nil
	}
	source, err := r.app.ConnectERP(ctx)
	if err != nil {
		return nil, err
	}
	r.source = source
	return source, nil
}

func (r *reconnecting) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.source == nil {
		return nil
	}
	return r.source.Close()
}

func (r *reconnecting) Columns(ctx context.Context, sql string) ([]erp.Column, error) {
	source, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	return source.Columns(ctx, sql)
}

func (r *reconnecting) Read(ctx context.Context, q erp.Query, w erp.Window,
	fn func(erp.Row) error,
) (erp.Result, error) {
	source, err := r.open(ctx)
	if err != nil {
		return erp.Result{}, err
	}
	return source.Read(ctx, q, w, fn)
}

func (r *reconnecting) ByKeys(ctx context.Context, q erp.Query, keys [][]erp.Value) ([]erp.Row, error) {
	source, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	return source.ByKeys(ctx, q, keys)
}

func (r *reconnecting) Explain(ctx context.Context, q erp.Query, key []string) (erp.Exclusion, error) {
	source, err := r.open(ctx)
	if err != nil {
		return erp.Exclusion{}, err
	}
	return source.Explain(ctx, q, key)
}

func (r *reconnecting) Table(ctx context.Context, sql string, columns []string, fn func([]erp.Value) error) error {
	source, err := r.open(ctx)
	if err != nil {
		return err
	}
	return source.Table(ctx, sql, columns, fn)
}
