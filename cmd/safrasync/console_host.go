package main

import (
	"errors"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/console"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
)

// console wires the console with the ledger and the engine's acts.
func (g *deskHost) console() *console.Console {
	c := g.app.config.Console
	proxy, _ := c.proxy()
	openID, err := c.openID()
	if err != nil { // those who have a password log in all the same
		g.log.Error("the login by OpenID Connect cannot be offered", zap.Error(err))
	}
	return console.New(console.Options{
		People: g.store, Ledger: truthful{g.store}, Work: &consoleWork{g}, Desk: newConsoleDesk(g),
		Reports: newConsoleReports(g), Unknown: func(err error) bool { return errors.Is(err, state.ErrNotFound) },
		Name: c.Name, Lang: g.app.lang(), Zone: g.app.config.Zone(), Hosts: c.hosts(), Secure: c.CertFile != "" ||
			c.Behind != "", Behind: proxy,
		OpenID: openID, Idle: c.Idle, Most: c.Longest, Now: now, Log: g.log,
	})
}

// deskHost is what the console needs of the program that serves it.
type deskHost struct {
	app       *App
	store     *state.Store
	engine    *parts
	scheduler *engine.Scheduler
	board     *board // how far the runs have come
	log       *zap.Logger
}
