package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/cmd/safrasync/daemon"
	"github.com/safrasync/safrasync/console"
	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// deskWorld is a console on the sample cooperative: the real program has synced it against a
// sandbox, and the console serves its ledger.
type deskWorld struct {
	*bench
	host   *deskHost
	server *httptest.Server
}

// deskHost is the service that serves the console.
type deskHost struct {
	App    *cli.App
	Store  *state.Store
	Engine *engine.Engine
	Board  *office.RunProgress
	Office *office.Office
}

// Console builds the console, as the service does.
func (h *deskHost) Console() *console.Console {
	return daemon.NewConsole(h.App, h.Store, h.Office, func(string, error) {})
}

// newDesk syncs the sample cooperative against a sandbox with faults, and opens a console for it.
func newDesk(t *testing.T, faults ...string) *deskWorld {
	t.Helper()
	return newDeskOn(t, state.SQLite, "", "", faults...)
}

// newDeskOn is newDesk with the ledger in one of the two databases, with more jobs, and with more
// in the ERP.
func newDeskOn(t *testing.T, on, jobs, sql string, faults ...string) *deskWorld {
	t.Helper()
	d := &deskWorld{bench: newCoop(t, on, sandbox.Options{})}
	d.sql("erp.db", sql)
	d.write("config.yaml", d.read("config.yaml")+jobs)
	d.faults(faults...)
	d.people()
	d.run(0, "sync")
	d.open()
	return d
}

// people makes a place for the console in the configuration, and lets people in.
func (d *deskWorld) people() {
	d.t.Helper()
	d.write("config.yaml", d.read("config.yaml")+
		"\nconsole: {listen: 127.0.0.1:0, name: Cooperativa Exemplo}\nlanguage: pt-BR\n")
	for role := range consoletest.People {
		d.addUser(role)
	}
}

// addUser adds the one who has a role. The command would hash the password each time.
func (p *program) addUser(role trade.Role) {
	p.t.Helper()
	app := p.app()
	store := must.Get(app.OpenLedger(p.t.Context(), cli.ToWrite))(p.t)
	name := consoletest.People[role]
	must.Do(p.t, store.AddUser(p.t.Context(),
		trade.User{Name: name, Role: role, Password: consoletest.HashedPassword()},
		trade.AuditRecord{At: time.Now(), Who: "test", Act: "user add", Target: name}))
	must.Do(p.t, app.Close())
}

// app is the program with its configuration read.
func (p *program) app() *cli.App {
	p.t.Helper()
	app := &cli.App{
		Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, ConfigPath: p.file,
		Env: func(name string) (string, bool) { value, ok := p.env[name]; return value, ok },
	}
	must.Get(app.LoadConfig())(p.t)
	app.Log = zap.NewNop()
	return app
}

// open serves the ledger as `safrasync run` does, without its schedules.
func (d *deskWorld) open() {
	d.t.Helper()
	app := d.app()
	d.host = &deskHost{App: app, Board: office.NewRunProgress()}
	d.host.Store = must.Get(app.OpenLedger(d.t.Context(), cli.ToWrite))(d.t)
	source, _ := app.OpenSource(d.t.Context()) // pages that need the ERP say that it is away
	d.host.Engine = must.Get(app.OpenEngine(d.host.Store, source, false, d.host.Board.Observe))(d.t)
	d.host.Office = office.New(office.Deps{
		Config: app.Config, Store: d.host.Store, Jobs: d.host.Engine.Jobs, Engine: d.host.Engine,
		Scheduler: must.Get(engine.NewScheduler(engine.SchedulerConfig{Engine: d.host.Engine}))(d.t),
		Board:     d.host.Board, Log: app.Log, Lang: app.Lang(), Now: office.Now,
		ReportPatience: time.Hour,
	})
	c := d.host.Console()
	d.server = httptest.NewServer(c)
	d.t.Cleanup(func() {
		c.Close() // answers that go on
		d.server.Close()
		d.host.Office.Close()
		must.Do(d.t, app.Close())
	})
}

// entry is a row as the ledger has it.
func (d *deskWorld) entry(job, key string) trade.Entry {
	d.t.Helper()
	return must.Get(d.host.Store.Entry(d.t.Context(), job, key))(d.t)
}

// browser is one without JavaScript, which follows redirects.
func (d *deskWorld) browser() *consoletest.Browser {
	b := (&consoletest.World{T: d.t, Server: d.server}).Browser()
	b.Client.CheckRedirect = nil
	return b
}

// as is a browser in which somebody with a role has logged in.
func (d *deskWorld) as(role trade.Role) *consoletest.Browser {
	d.t.Helper()
	name := consoletest.People[role]
	return d.browser().LogIn(name, consoletest.Password).Wants(http.StatusOK, name)
}

// decision opens the plan of a decision about a doubt, as the page of the doubt does.
func decision(b *consoletest.Browser, e trade.Entry, act string, pairs ...string) *consoletest.Browser {
	b.World.T.Helper()
	b.Get(fmt.Sprintf("/doubts/%d", e.ID)) // from now on this host knows of the doubt
	form := with(url.Values{"row": {fmt.Sprint(e.ID)}, "done": {"0"}}, pairs...)
	return b.Get("/act/" + act + "?" + form.Encode())
}
