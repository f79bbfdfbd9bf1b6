package daemon

import (
	"context"
	gosync "sync"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/erp"
)

// reconnecting is the daemon's connection to the ERP. It connects on first use, and tries again on
// each use until that succeeds. After that the pool of connections reconnects by itself.
type reconnecting struct {
	app *cli.App

	mu     gosync.Mutex
	source *erp.Source
}

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
