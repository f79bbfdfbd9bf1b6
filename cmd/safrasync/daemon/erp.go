package daemon

import (
	"context"
	gosync "sync"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/erp"
)

// reconnecting is the ERP of the daemon: it connects when it is first needed, and tries anew as
// long as that does not work. Once it is there, the pool of connections looks after itself.
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
