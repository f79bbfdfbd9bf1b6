package desk

import (
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/console"
	"github.com/safrasync/safrasync/console/auth"
	"github.com/safrasync/safrasync/console/books"
	"github.com/safrasync/safrasync/console/pages"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
)

// Console builds the console on the ledger and the engine's acts.
func (g *Host) Console() *console.Console {
	c := g.App.Config.Console
	proxy, _ := config.ProxyPrefix(c.Behind)
	openID, err := c.OpenID()
	if err != nil { // log-ins by password work all the same
		g.Log.Error("the login by OpenID Connect cannot be offered", zap.Error(err))
	}
	ledger, work, desk := office.LiveStatus{Store: g.Store}, &work{g}, New(g)
	sessions := auth.New(auth.Options{Users: g.Store, Logins: g.Store, OpenID: openID, Idle: c.Idle, Most: c.Longest})
	ports := pages.Ports{
		Totals: ledger, Rows: ledger, Runs: ledger, Audit: ledger, Filters: ledger, Codes: ledger,
		Jobs: work, Words: work, Fields: work, Acts: work,
		Causes: desk, Doubts: desk, Tables: desk, Scheduling: desk,
		Reports: desk.reports, Sheets: desk.reports, Consents: desk,
		Sessions: sessions,
	}
	return console.New(console.Options{
		Site: web.Site{
			Name: c.Name, Lang: g.App.Lang(), Zone: g.App.Config.Zone(), Secure: c.CertFile != "" || c.Behind != "",
			Now: office.Now, Log: bounded(g.Log), Refused: g.Refused,
		},
		Sessions: sessions,
		Pages:    pages.New(ports, books.Routes(ports)...),
		Hosts:    c.AllHosts(), Behind: proxy,
	})
}

// Host is what the console needs of the program that serves it.
type Host struct {
	App       *cli.App
	Store     *state.Store
	Engine    *cli.Engine
	Scheduler *engine.Scheduler
	Board     *Board // progress of the runs
	Log       *zap.Logger
	Refused   func(cause string, err error) // see web.Site
}

// linesMost is how many equal lines of the console the log gets in a minute. While the ledger is
// down each request is one, and the system's log drops lines about sending when there are too many.
const linesMost = 60

func bounded(log *zap.Logger) *zap.Logger {
	return log.WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core {
		return zapcore.NewSamplerWithOptions(core, time.Minute, linesMost, 0)
	}))
}
