package main

import (
	"context"
	"errors"
	"net"

	"go.uber.org/zap"
)

// errStateChanged refuses a reload that would move the ledger.
var errStateChanged = errors.New("state: cannot change while the service runs; restart it (systemctl restart safrasync)")

// reload reads the configuration again. It gives the generation that takes over from the running one, or nil: then something is wrong with the new
// configuration, which the log and the service manager are told, and the old one stays.
func (d *daemon) reload(ctx context.Context, old *generation) *generation {
	d.manager.Reloading()
	next, listener, desk, err := d.reread(ctx, old)
	if err != nil {
		d.log.Error("the new configuration is wrong; the old one stays in force", zap.Error(err))
		d.said.refused(old.text(runKeepsOld, firstLine(err)))
		d.manager.Ready(d.sentence(ctx, old))
		return nil
	}
	d.said.refused("")
	d.level.SetLevel(next.config.Log.level())
	d.monitor.serve(next, listener)
	d.console.serve(next, desk)
	next.check(ctx)
	d.log.Info("the new configuration is in force; what runs ends with the requests on the wire and begins again", zap.Int("jobs", len(next.config.Jobs)))
	return next
}

// reread makes the next generation, and opens the addresses that it needs and the old one does not have.
func (d *daemon) reread(ctx context.Context, old *generation) (next *generation, metrics, desk net.Listener, err error) {
	fresh := &App{Env: d.Env, configPath: d.configPath}
	config, err := fresh.loadConfig()
	if err != nil {
		return nil, nil, nil, err
	}
	a, b := old.config.State, config.State
	if a.Driver != b.Driver || a.DSN.Reveal() != b.DSN.Reveal() || a.journals() != b.journals() {
		return nil, nil, nil, errStateChanged
	}
	if metrics, err = d.monitor.listen(ctx, config.Metrics.Listen); err != nil {
		return nil, nil, nil, err
	}
	if desk, err = d.console.listen(ctx, config.Console); err == nil {
		next, err = d.generation(config, false)
	}
	for _, listener := range []net.Listener{metrics, desk} {
		if err != nil && listener != nil {
			err = errors.Join(err, listener.Close())
		}
	}
	return next, metrics, desk, err
}
