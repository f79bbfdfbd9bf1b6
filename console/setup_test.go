package console_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/safrasync/safrasync/console"
	"github.com/safrasync/safrasync/internal/ledgertest"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

func TestMain(m *testing.M) { pgtest.Main(m, func() error { return goleak.Find() }) }

// password is everybody's.
const password = "quatro cavalos no milharal"

var hashed = console.HashPassword(password)

// people are there from the beginning, by their roles.
var people = map[trade.Role]string{trade.Reader: "lia", trade.Accountant: "carla", trade.Administrator: "ana"}

// world is a console on a ledger, without an engine.
type world struct {
	t       *testing.T
	store   *state.Store
	console *console.Console
	server  *httptest.Server
	clock   *clock
	log     *buffer
}

// clock is moved by the tests.
type clock struct {
	mu gosync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// buffer is a log that several may write to.
type buffer struct {
	mu gosync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (*buffer) Sync() error { return nil }

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// noJobs is an engine without jobs.
type noJobs struct{}

func (noJobs) Jobs() []console.Job                             { return nil }
func (noJobs) Progress() ([]console.Progress, <-chan struct{}) { return nil, make(chan struct{}) }

// noWords explains no row.
type noWords struct{ console.Words }

func (noWords) Reason(trade.Entry, trade.Lang) string { return "" }

// noCauses is an engine in which nothing is stuck.
type noCauses struct{}

func (noCauses) Expect() {}

func (noCauses) Stuck(context.Context, trade.Lang, bool) (console.Stuck, error) {
	return console.Stuck{}, nil
}

// noTables has de-para tables without a line.
type noTables struct{ console.Tables }

func (noTables) ReferenceSource(string) string                            { return "ledger" }
func (noTables) WriteReferences(context.Context, string, io.Writer) error { return nil }

// noSchedules has no job with a schedule.
type noSchedules struct{ console.Scheduling }

func (noSchedules) Schedules(context.Context, trade.Lang) ([]console.Schedule, error) {
	return nil, nil
}

// noReports has no month that was closed.
type noReports struct{ console.Reports }

func (noReports) Closings(context.Context) ([]trade.Closing, error) { return nil, nil }

// onBoth runs a test with its ledger in SQLite and in PostgreSQL.
func onBoth(t *testing.T, test func(t *testing.T, s *state.Store)) {
	t.Helper()
	t.Parallel()
	for _, driver := range []string{state.SQLite, state.Postgres} {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			test(t, openStore(t, driver))
		})
	}
}

func openStore(t *testing.T, driver string) *state.Store {
	t.Helper()
	s, err := state.Open(t.Context(), state.Options{
		Driver: driver,
		DSN:    ledgertest.New(t, driver, t.TempDir()+"/state.db"), Begin: true, Version: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// newWorld opens a console on a ledger; adjust changes its options.
func newWorld(t *testing.T, s *state.Store, adjust ...func(*console.Options)) *world {
	t.Helper()
	w := &world{t: t, store: s, clock: &clock{at: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}, log: &buffer{}}
	zone, err := time.LoadLocation("America/Sao_Paulo")
	if err != nil {
		t.Fatal(err)
	}
	o := console.Options{
		Users: s, Logins: s,
		Ports: console.Ports{
			Totals: s, Rows: s, Runs: s, Audit: s, Filters: s, Codes: s, Jobs: noJobs{}, Words: noWords{},
			Causes: noCauses{}, Tables: noTables{}, Schedules: noSchedules{}, Reports: noReports{},
			Unknown: func(err error) bool { return errors.Is(err, state.ErrNotFound) },
		},
		Name: "Cooperativa",
		Lang: trade.Portuguese, Zone: zone,
		Hosts: []string{"127.0.0.1", "console.example"}, Idle: 30 * time.Minute, Most: 12 * time.Hour, Now: w.clock.now,
		Log: zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), w.log, zap.DebugLevel)),
	}
	for _, change := range adjust {
		change(&o)
	}
	w.console = console.New(o)
	w.server = httptest.NewServer(w.console)
	t.Cleanup(func() {
		w.console.Close() // answers that go on
		w.server.Close()
	})
	return w
}

// withPeople adds one person of each role.
func (w *world) withPeople() *world {
	w.t.Helper()
	for role, name := range people {
		w.add(name, role)
	}
	return w
}

func (w *world) add(name string, role trade.Role) {
	w.t.Helper()
	err := w.store.AddUser(context.WithoutCancel(w.t.Context()), trade.User{Name: name, Role: role, Password: hashed},
		trade.AuditRecord{At: w.clock.now(), Who: "test", Act: "user add", Target: name})
	if err != nil {
		w.t.Fatal(err)
	}
}

// browser keeps cookies, and follows no redirect.
type browser struct {
	w      *world
	client *http.Client
	header http.Header // sent with each request
	host   string      // "" = that of the server

	status int
	got    http.Header
	body   string
}

func (w *world) browser() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	transport := &http.Transport{}
	w.t.Cleanup(transport.CloseIdleConnections)
	return &browser{w: w, header: http.Header{}, client: &http.Client{
		Jar: jar, Timeout: time.Minute, Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// as is a browser in which somebody has logged in.
func (w *world) as(role trade.Role) *browser {
	w.t.Helper()
	b := w.browser()
	if b.logIn(people[role], password); b.status != http.StatusSeeOther {
		w.t.Fatalf("the login of %s: %d\n%s", role, b.status, b.body)
	}
	return b
}

func (b *browser) logIn(name, password string) *browser {
	b.w.t.Helper()
	return b.do(http.MethodPost, "/login", url.Values{"name": {name}, "password": {password}})
}

func (b *browser) get(path string) *browser {
	b.w.t.Helper()
	return b.do(http.MethodGet, path, nil)
}

func (b *browser) do(method, path string, form url.Values) *browser {
	b.w.t.Helper()
	return b.send(method, path, "application/x-www-form-urlencoded", form.Encode())
}

func (b *browser) send(method, path, kind, body string) *browser {
	b.w.t.Helper()
	request, err := http.NewRequestWithContext(b.w.t.Context(), method, b.w.server.URL+path, strings.NewReader(body))
	if err != nil {
		b.w.t.Fatal(err)
	}
	for name, values := range b.header {
		request.Header[name] = values
	}
	if method == http.MethodPost {
		request.Header.Set("Content-Type", kind)
	}
	request.Host = b.host
	answer, err := b.client.Do(request)
	if err != nil {
		b.w.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		b.w.t.Fatal(err)
	}
	b.status, b.got, b.body = answer.StatusCode, answer.Header, string(text)
	return b
}

var tokenField = regexp.MustCompile(`name="token" value="([^"]+)"`)

// token is that of the page that is shown.
func (b *browser) token() string {
	b.w.t.Helper()
	m := tokenField.FindStringSubmatch(b.body)
	if m == nil {
		b.w.t.Fatalf("no token on the page:\n%s", b.body)
	}
	return m[1]
}

// wants wants a status, and texts on the page.
func (b *browser) wants(status int, texts ...string) *browser {
	b.w.t.Helper()
	if b.status != status {
		b.w.t.Fatalf("status %d, want %d\n%s", b.status, status, b.body)
	}
	for _, text := range texts {
		if !strings.Contains(b.body, text) {
			b.w.t.Errorf("the page does not show %q:\n%s", text, b.body)
		}
	}
	return b
}
