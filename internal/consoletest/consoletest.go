package consoletest

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/safrasync/safrasync/console"
	"github.com/safrasync/safrasync/console/auth"
	"github.com/safrasync/safrasync/console/pages"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/config/configtest"
	"github.com/safrasync/safrasync/internal/english"
	"github.com/safrasync/safrasync/internal/ledgertest"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// Password is the password of every user.
const Password = "quatro cavalos no milharal"

// HashedPassword returns what the ledger stores of [Password]. It is made when a user is added: hashing
// takes a core longer than starting a program, and the tests of the program start it a thousand times
// from a binary that has this package.
var HashedPassword = gosync.OnceValue(func() string { return auth.HashPassword(Password) })

// People holds the name of the user of each role; see [World.WithPeople].
var People = map[trade.Role]string{trade.Reader: "lia", trade.Accountant: "carla", trade.Administrator: "ana"}

// World is a console on a ledger, without an engine.
type World struct {
	T        *testing.T
	Store    *state.Store
	Console  *console.Console
	Sessions *auth.Sessions
	Office   *office.Office
	Pages    *pages.Pages
	Server   *httptest.Server
	Clock    *Clock
	Log      *Buffer
}

// Clock is a clock that tests set.
type Clock struct {
	mu gosync.Mutex
	at time.Time
}

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// Pass advances the clock.
func (c *Clock) Pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// Buffer is a log that is safe for concurrent use.
type Buffer struct {
	mu gosync.Mutex
	b  bytes.Buffer
}

// Write appends to the log.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// Sync does nothing.
func (*Buffer) Sync() error { return nil }

// String returns everything that was written.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// OnBoth runs a test with its ledger in SQLite and in PostgreSQL.
func OnBoth(t *testing.T, test func(t *testing.T, s *state.Store)) {
	t.Helper()
	ledgertest.Both(t, func(t *testing.T, driver string) { test(t, OpenStore(t, driver)) })
}

// OpenStore opens a ledger for the test.
func OpenStore(t *testing.T, driver string) *state.Store {
	t.Helper()
	return ledgertest.Open(t, driver).Store
}

// Options are the options of a console that a test may change.
type Options struct {
	Site   web.Site
	Auth   auth.Parts
	Users  func(auth.Users) auth.Users // what stands between the console and its office; nil: nothing
	Behind netip.Prefix

	ReportPatience time.Duration // how long a page waits for its report
}

// New opens a console on a ledger; adjust changes its options.
func New(t *testing.T, s *state.Store, adjust ...func(*Options)) *World {
	t.Helper()
	w := &World{T: t, Store: s, Clock: &Clock{at: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}, Log: &Buffer{}}
	zone, err := time.LoadLocation("America/Sao_Paulo")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		Site: web.Site{
			Name: "Cooperativa", Lang: trade.Portuguese, Zone: zone, Now: w.Clock.Now,
			Refused: func(string, error) {},
			Log: zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), w.Log,
				zap.DebugLevel)),
		},
		Auth: auth.Parts{Logins: s, Idle: 30 * time.Minute, Most: 12 * time.Hour},

		ReportPatience: time.Hour,
	}
	for _, change := range adjust {
		change(&o)
	}
	w.Office = office.New(office.Deps{
		Config: configtest.Load(t, t.TempDir()+"/config.yaml", configtest.Sample(t), "x"), Store: s,
		Board: office.NewRunProgress(), Log: zap.NewNop(), Now: w.Clock.Now, ReportPatience: o.ReportPatience,
	})
	t.Cleanup(w.Office.Close)
	o.Auth.Users = w.Office
	if o.Users != nil {
		o.Auth.Users = o.Users(w.Office)
	}
	w.Sessions = auth.New(o.Auth)
	w.Pages = pages.New(w.Office, w.Sessions)
	w.Console = console.New(console.Parts{
		Site: o.Site, Sessions: w.Sessions, Pages: w.Pages, Behind: o.Behind,
		Hosts: []string{"127.0.0.1", "console.example"},
	})
	w.Server = httptest.NewServer(w.Console)
	t.Cleanup(func() {
		w.Console.Close() // ends answers in progress, such as live streams
		w.Server.Close()
	})
	return w
}

// WithPeople adds one user of each role.
func (w *World) WithPeople() *World {
	w.T.Helper()
	for role, name := range People {
		w.Add(name, role)
	}
	return w
}

// Add adds one user.
func (w *World) Add(name string, role trade.Role) {
	w.T.Helper()
	err := w.Store.AddUser(context.WithoutCancel(w.T.Context()),
		trade.User{Name: name, Role: role, Password: HashedPassword()},
		trade.AuditRecord{At: w.Clock.Now(), Who: "test", Act: "user add", Target: name})
	if err != nil {
		w.T.Fatal(err)
	}
}

// Browser keeps cookies and follows no redirect.
type Browser struct {
	World  *World
	Client *http.Client
	Header http.Header // sent with each request
	Host   string      // "" means that of the server

	// The last answer.
	Status int
	Got    http.Header
	Body   string

	portuguese bool // the last page
}

// Browser returns a browser without a login.
func (w *World) Browser() *Browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		w.T.Fatal(err)
	}
	transport := &http.Transport{}
	w.T.Cleanup(transport.CloseIdleConnections)
	return &Browser{World: w, Header: http.Header{}, Client: &http.Client{
		Jar: jar, Timeout: time.Minute, Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// As returns a browser in which the user of the role is logged in.
func (w *World) As(role trade.Role) *Browser {
	w.T.Helper()
	b := w.Browser()
	b.LogIn(People[role], Password)
	if b.Status != http.StatusSeeOther {
		w.T.Fatalf("the login of %s: %d\n%s", role, b.Status, b.Body)
	}
	return b
}

// LogIn sends the login form.
func (b *Browser) LogIn(name, password string) *Browser {
	b.World.T.Helper()
	return b.Post("/login", url.Values{"name": {name}, "password": {password}})
}

// Get requests a page.
func (b *Browser) Get(path string) *Browser {
	b.World.T.Helper()
	return b.Do(http.MethodGet, path, nil)
}

// Post sends a form.
func (b *Browser) Post(path string, form url.Values) *Browser {
	b.World.T.Helper()
	return b.Do(http.MethodPost, path, form)
}

// Do asks with a method, and a form if there is one.
func (b *Browser) Do(method, path string, form url.Values) *Browser {
	b.World.T.Helper()
	return b.Send(method, path, "application/x-www-form-urlencoded", form.Encode())
}

// Send sends a request with a body of this content type.
func (b *Browser) Send(method, path, kind, body string) *Browser {
	b.World.T.Helper()
	at := b.World.Server.URL + path
	request, err := http.NewRequestWithContext(b.World.T.Context(), method, at, strings.NewReader(body))
	if err != nil {
		b.World.T.Fatal(err)
	}
	for name, values := range b.Header {
		request.Header[name] = values
	}
	if method == http.MethodPost {
		request.Header.Set("Content-Type", kind)
	}
	request.Host = b.Host
	answer, err := b.Client.Do(request)
	if err != nil {
		b.World.T.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		b.World.T.Fatal(err)
	}
	b.Status, b.Got, b.Body = answer.StatusCode, answer.Header, string(text)
	if strings.HasPrefix(b.Got.Get("Content-Type"), "text/html") && b.Got.Get("Content-Disposition") == "" {
		page := insideTag.ReplaceAllStringFunc(b.Body, func(tag string) string {
			return indented.ReplaceAllString(tag, " ")
		})
		b.Body = betweenParts.ReplaceAllString(page, ">$1")
	}
	for _, line := range b.english() {
		b.World.T.Errorf("%s %s has English in Portuguese: %s", method, path, line)
	}
	return b
}

// english returns the lines with English words in a page, or in a file that came after a page in
// Portuguese.
func (b *Browser) english() (out []string) {
	_, file, _ := strings.Cut(b.Got.Get("Content-Disposition"), `filename="`)
	switch {
	case strings.HasPrefix(b.Got.Get("Content-Type"), "text/html") && file == "":
		b.portuguese = strings.Contains(b.Body, `lang="pt-BR"`)
		return english.Page(b.Body)
	case file != "" && b.portuguese:
		texts, err := english.Texts(strings.TrimSuffix(file, `"`), []byte(b.Body))
		if err != nil {
			return []string{err.Error()}
		}
		for _, text := range texts {
			out = append(out, english.Lines(text)...)
		}
	}
	return out
}

var tokenField = regexp.MustCompile(`name="token" value="([^"]+)"`)

// Token returns the form token of the current page.
func (b *Browser) Token() string {
	b.World.T.Helper()
	m := tokenField.FindStringSubmatch(b.Body)
	if m == nil {
		b.World.T.Fatalf("no token on the page:\n%s", b.Body)
	}
	return m[1]
}

// Submit sends a form with the token of the current page.
func (b *Browser) Submit(path string, form url.Values) *Browser {
	b.World.T.Helper()
	form.Set("token", b.Token())
	return b.Post(path, form)
}

// Where a template wraps its lines, a browser shows nothing: within a tag, and between the parts of a
// table or list.
var (
	insideTag    = regexp.MustCompile(`<[a-z][^<>]*\n[^<>]*>`)
	indented     = regexp.MustCompile(`\n {2,}`) // the value of a field may have lines, too
	betweenParts = regexp.MustCompile(
		`>\n(</?(?:t[dhr]|thead|tbody|tfoot|table|li|ul|ol|dl|dt|dd|option|section|div|p|h[1-6])\b)`)
)

var hiddenField = regexp.MustCompile(`type="hidden" name="([^"]+)" value="([^"]*)"`)

// Form returns the hidden fields of the form with this action.
func (b *Browser) Form(action string) url.Values {
	b.World.T.Helper()
	_, form, found := strings.Cut(b.Body, `action="`+action+`"`)
	if !found {
		b.World.T.Fatalf("no form goes to %s:\n%s", action, b.Body)
	}
	form, _, _ = strings.Cut(form, "</form>")
	out := url.Values{}
	for _, m := range hiddenField.FindAllStringSubmatch(form, -1) {
		out.Add(m[1], m[2])
	}
	return out
}

// Wants fails the test unless the last answer has this status and its page contains the texts.
func (b *Browser) Wants(status int, texts ...string) *Browser {
	b.World.T.Helper()
	if b.Status != status {
		b.World.T.Fatalf("status %d, want %d\n%s", b.Status, status, b.Body)
	}
	for _, text := range texts {
		if !strings.Contains(b.Body, text) {
			b.World.T.Errorf("the page does not show %q:\n%s", text, b.Body)
		}
	}
	return b
}

// OpenLive opens the browser's live stream and reads its first line. It returns the status and a
// function that closes the stream.
func (b *Browser) OpenLive() (status int, closeIt func()) {
	b.World.T.Helper()
	ctx, cancel := context.WithCancel(b.World.T.Context())
	b.World.T.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, b.World.Server.URL+"/live", nil)
	if err != nil {
		b.World.T.Fatal(err)
	}
	answer, err := b.Client.Do(request) //nolint:bodyclose // by closeIt, when the test has seen enough
	if err != nil {
		b.World.T.Fatal(err)
	}
	if answer.StatusCode == http.StatusOK {
		_, err = bufio.NewReader(answer.Body).ReadString('\n')
	}
	if err != nil {
		b.World.T.Fatal(err)
	}
	return answer.StatusCode, func() {
		cancel()
		_ = answer.Body.Close()
	}
}
