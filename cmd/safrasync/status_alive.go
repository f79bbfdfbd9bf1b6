package main

import (
	"context"

	"github.com/safrasync/safrasync/state"
)

// alive ends with exit code 1 unless a `safrasync run` on this host serves the ledger and reported
// itself within the last minutes: a container's health check. It opens no connection but the
// ledger's.
func alive(ctx context.Context, a *App) error {
	store, err := a.openLedger(ctx, toRead)
	if err != nil {
		return err
	}
	services, err := store.Services(ctx)
	if err != nil {
		return err
	}
	host := state.Self().Host
	for _, s := range services {
		if !s.Dead && s.Owner.Host == host {
			if a.asJSON {
				return a.printJSON(serviceJSON{true, s.Since, s.Seen, s.Version, s.Owner.Host, s.Owner.PID})
			}
			a.show("status.service", a.voice().moment(s.Since), s.Version, s.Owner.PID, s.Owner.Host)
			return nil
		}
	}
	a.tell("status.not_alive")
	return &exitError{exitFailed}
}
