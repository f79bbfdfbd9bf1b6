package desk

import (
	"errors"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/console"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
)

// Console wires the console with the ledger and the engine's acts.
func (g *Host) Console() *console.Console {
	c := g.App.Config.Console
	proxy, _ := c.Proxy()
	openID, err := c.OpenID()
	if err != nil { // those who have a password log in all the same
		g.Log.Error("the login by OpenID Connect cannot be offered", zap.Error(err))
	}
	return console.New(console.Options{
		People: g.Store, Ledger: cli.Truthful{Store: g.Store}, Work: &work{g}, Desk: New(g),
		Reports: newReports(g), Unknown: func(err error) bool { return errors.Is(err, state.ErrNotFound) },
		Name: c.Name, Lang: g.App.Lang(), Zone: g.App.Config.Zone(), Hosts: c.AllHosts(), Secure: c.CertFile != "" ||
			c.Behind != "", Behind: proxy,
		OpenID: openID, Idle: c.Idle, Most: c.Longest, Now: cli.Now, Log: g.Log,
	})
}

// Host is what the console needs of the program that serves it.
type Host struct {
	App       *cli.App
	Store     *state.Store
	Engine    *cli.Engine
	Scheduler *engine.Scheduler
	Board     *Board // how far the runs have come
	Log       *zap.Logger
}
