package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/cmd/safrasync/desk"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// deskWorld is a console on the sample cooperative: the real program has synced it against a
// sandbox, and the console serves its ledger.
type deskWorld struct {
	*bench
	host   *desk.Host
	server *httptest.Server
}

// deskPassword is that of everybody who is added by newDesk.
const deskPassword = "quatro cavalos no milharal"

// deskPeople are there from the beginning, by their roles.
var deskPeople = map[trade.Role]string{trade.Reader: "lia", trade.Accountant: "carla", trade.Administrator: "ana"}

// newDesk syncs the sample cooperative against a sandbox with faults, and opens a console for it.
func newDesk(t *testing.T, faults ...string) *deskWorld {
	t.Helper()
	return newDeskOn(t, state.SQLite, "", "", faults...)
}

// newDeskOf is newDesk with more jobs, and with more in the ERP.
func newDeskOf(t *testing.T, jobs, sql string, faults ...string) *deskWorld {
	t.Helper()
	return newDeskOn(t, state.SQLite, jobs, sql, faults...)
}

// newDeskOn is newDeskOf with the ledger in one of the two databases.
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
	for role := range deskPeople {
		d.addUser(role)
	}
}

// addUser adds the one who has a role.
func (p *program) addUser(role trade.Role) {
	p.t.Helper()
	p.runIn(p.t.Context(), deskPassword+"\n", 0, "users", "add", deskPeople[role], "--role", string(role),
		"--password-stdin")
}

// faults lets the sandbox behave so from now on.
func (d *deskWorld) faults(specs ...string) {
	d.t.Helper()
	d.box.SetFaults(parsed(d.t, sandbox.ParseFaults, specs...)...)
}

// open serves the ledger as `safrasync run` does, without its schedules.
func (d *deskWorld) open() {
	d.t.Helper()
	app := &cli.App{
		Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, ConfigPath: d.file,
		Env: func(name string) (string, bool) { value, ok := d.env[name]; return value, ok },
	}
	must.Get(app.LoadConfig())(d.t)
	d.host = &desk.Host{App: app, Board: desk.NewBoard(), Log: zap.NewNop()}
	d.host.Store = must.Get(app.OpenLedger(d.t.Context(), cli.ToWrite))(d.t)
	source, _ := app.OpenSource(d.t.Context()) // pages that need the ERP say that it is away
	d.host.Engine = must.Get(app.OpenEngine(d.host.Store, source, d.host.Board.Observe))(d.t)
	d.host.Scheduler = must.Get(engine.NewScheduler(engine.SchedulerConfig{Engine: d.host.Engine.Engine}))(d.t)
	c := d.host.Console()
	d.server = httptest.NewServer(c)
	d.t.Cleanup(func() {
		c.Close() // answers that go on
		d.server.Close()
		if err := app.Close(); err != nil {
			d.t.Error(err)
		}
	})
}

// entry is a row as the ledger has it.
func (d *deskWorld) entry(job, key string) trade.Entry {
	d.t.Helper()
	e := must.Get(d.host.Store.Entry(d.t.Context(), job, key))(d.t)
	return e
}

// browser is a browser without JavaScript.
type browser struct {
	t      *testing.T
	client *http.Client
	base   string
	status int
	header http.Header
	body   string
}

func (d *deskWorld) browser() *browser {
	jar := must.Get(cookiejar.New(nil))(d.t)
	return &browser{
		t: d.t, base: d.server.URL,
		client: &http.Client{Jar: jar, Timeout: time.Minute, Transport: &http.Transport{}},
	}
}

// as is a browser in which somebody with a role has logged in.
func (d *deskWorld) as(role trade.Role) *browser {
	d.t.Helper()
	b := d.browser()
	b.post("/login", url.Values{"name": {deskPeople[role]}, "password": {deskPassword}})
	if b.status != http.StatusOK || !strings.Contains(b.body, deskPeople[role]) {
		d.t.Fatalf("the login of %s: %d\n%s", role, b.status, b.body)
	}
	return b
}

func (b *browser) get(path string) *browser {
	b.t.Helper()
	return b.do(http.MethodGet, path, nil)
}

func (b *browser) post(path string, form url.Values) *browser {
	b.t.Helper()
	return b.do(http.MethodPost, path, form)
}

func (b *browser) do(method, path string, form url.Values) *browser {
	b.t.Helper()
	body := strings.NewReader(form.Encode())
	request := must.Get(http.NewRequestWithContext(b.t.Context(), method, b.base+path, body))(b.t)
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return b.send(request)
}

func (b *browser) send(request *http.Request) *browser {
	b.t.Helper()
	answer, err := b.client.Do(request)
	must.Do(b.t, err)
	defer answer.Body.Close()
	body := must.Get(io.ReadAll(answer.Body))(b.t)
	b.status, b.header, b.body = answer.StatusCode, answer.Header, string(body)
	return b
}

var tokenField = regexp.MustCompile(`name="token" value="([^"]+)"`)

// submit posts a form with the token of the page that is shown.
func (b *browser) submit(path string, form url.Values) *browser {
	b.t.Helper()
	m := tokenField.FindStringSubmatch(b.body)
	if m == nil {
		b.t.Fatalf("no token on the page:\n%s", b.body)
	}
	form.Set("token", m[1])
	return b.post(path, form)
}

// shows wants texts on the page.
func (b *browser) shows(status int, texts ...string) *browser {
	b.t.Helper()
	if b.status != status {
		b.t.Fatalf("status %d, want %d\n%s", b.status, status, b.body)
	}
	for _, text := range texts {
		if !strings.Contains(b.body, text) {
			b.t.Errorf("the page does not show %q:\n%s", text, b.body)
		}
	}
	return b
}
