package console_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/console"
	"github.com/safrasync/safrasync/console/pages"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

const everybody = trade.Role("")

// mayUse says who may use what. A route that is not here fails the test.
var mayUse = map[string]trade.Role{
	"GET /static/{version}/{file...}": everybody, "GET /licences": everybody, "GET /login": everybody,
	"POST /login": everybody, "POST /login/openid": everybody, "GET /login/openid/back": everybody,
	"POST /account/prove": trade.Reader, "POST /preferences": everybody,
	"GET /{$}": trade.Reader, "GET /live": trade.Reader, "POST /logout": trade.Reader, "GET /account": trade.Reader,
	"POST /account/password": trade.Reader,
	"GET /search":            trade.Reader, "GET /rows": trade.Reader,
	"GET /rows/{id}":           trade.Reader,
	"POST /reveal/{id}":        trade.Accountant,
	"POST /doubts/{id}/reveal": trade.Accountant,
	"POST /act/{act}":          trade.Accountant,
	"POST /report/export":      trade.Accountant, "POST /report/close/plan": trade.Accountant,
	"GET /act/{act}": trade.Accountant, "GET /report": trade.Reader,
	"POST /report/close/do": trade.Accountant, "GET /report/closings/{id}": trade.Reader,
	"GET /users": trade.Administrator, "POST /users": trade.Administrator,
	"POST /users/{name}": trade.Administrator,
	"GET /season":        trade.Reader,
	"GET /pending":       trade.Reader,
	"POST /pending/own":  trade.Accountant,
	"GET /doubts":        trade.Reader, "GET /doubts/next": trade.Reader, "GET /doubts/{id}": trade.Reader,
	"GET /changed":    trade.Reader,
	"GET /references": trade.Reader, "GET /references/{kind}": trade.Reader,
	"GET /references/{kind}/export": trade.Accountant, "POST /references/{kind}/set": trade.Administrator,
	"POST /references/{kind}/remove": trade.Administrator, "POST /references/{kind}/plan": trade.Administrator,
	"POST /references/{kind}/import": trade.Administrator,
	"GET /runs/{id}":                 trade.Reader,
	"POST /decisions/export":         trade.Accountant, "GET /decisions": trade.Accountant,
	"POST /decisions/plan": trade.Accountant, "POST /decisions/do": trade.Accountant,
	"GET /events": trade.Reader, "GET /alerts": trade.Reader, "GET /routines": trade.Reader,
	"GET /resync": trade.Accountant, "POST /resync": trade.Accountant,
	"GET /approvals": trade.Reader, "GET /approvals/{id}": trade.Reader,
	"POST /approvals/{id}/approve": trade.Accountant, "POST /approvals/{id}/decline": trade.Accountant,
	"POST /references/{kind}/propose": trade.Accountant,
	"GET /audit":                      trade.Reader, "GET /audit/check": trade.Reader,
	"GET /audit/export": trade.Accountant,
}

var pathPart = regexp.MustCompile(`\{[^}]*\}`)

// pathOf is a path that a route takes.
func pathOf(pattern string) string {
	return pathPart.ReplaceAllStringFunc(pattern, func(part string) string {
		switch part {
		case "{$}":
			return ""
		case "{file...}":
			return "console.js"
		case "{act}":
			return "retry"
		}
		return "1"
	})
}

// Every route × everybody × every method: who is not named in mayUse gets nothing, and nothing is
// changed but by POST.
func TestEveryRouteForEveryRole(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite)).WithPeople()
	browsers := map[trade.Role]*consoletest.Browser{everybody: w.Browser()}
	for _, role := range trade.Roles {
		browsers[role] = w.As(role)
	}
	methods := map[string][]string{}
	for _, r := range w.Console.Routes() {
		methods[pathOf(r.Path)] = append(methods[pathOf(r.Path)], r.Method)
		if r.Method != http.MethodGet && r.Method != http.MethodPost {
			t.Errorf("%s %s: only GET and POST", r.Method, r.Path)
		}
	}
	for _, r := range w.Console.Routes() {
		needs, ok := mayUse[r.Method+" "+r.Path]
		if !ok {
			t.Errorf("%s %s is not in mayUse: who may use it?", r.Method, r.Path)
			continue
		}
		path := pathOf(r.Path)
		for role, b := range browsers {
			for _, method := range []string{
				"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE",
				"PROPFIND",
			} {
				if r.Path == "/live" && method == "GET" && role != everybody {
					continue // it goes on
				}
				b.Do(method, path, url.Values{})
				listed := slices.Contains(methods[path], method) || method == "HEAD" &&
					slices.Contains(methods[path], "GET")
				switch {
				case !listed:
					if b.Status != http.StatusMethodNotAllowed {
						t.Errorf("%s as %q: %s is not listed and answered %d", path, role, method, b.Status)
					}
				case method != r.Method:
				case needs == everybody:
					if method == "GET" && b.Status >= 400 {
						t.Errorf("%s %s as %q: %d", method, path, role, b.Status)
					}
				case role == everybody && method == "GET":
					if b.Status != http.StatusSeeOther || !strings.HasPrefix(b.Got.Get("Location"), "/login") {
						t.Errorf("GET %s without a login: %d", path, b.Status)
					}
				case role == everybody:
					if b.Status != http.StatusUnauthorized {
						t.Errorf("POST %s without a login: %d", path, b.Status)
					}
				case !role.May(needs):
					if b.Status != http.StatusForbidden || !strings.Contains(b.Body, "código “role”") {
						t.Errorf("%s %s as %q: %d", method, path, role, b.Status)
					}
				case method == "POST": // without a token
					if b.Status != http.StatusForbidden || !strings.Contains(b.Body, "código “token”") {
						t.Errorf("POST %s as %q without a token: %d", path, role, b.Status)
					}
				default:
					if b.Status == http.StatusForbidden || b.Status == http.StatusUnauthorized || b.Status >= 500 {
						t.Errorf("%s %s as %q: %d", method, path, role, b.Status)
					}
				}
			}
		}
	}
}

// A change needs the token of the login and comes from the same site.
func TestChangesComeFromOurOwnPages(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite)).WithPeople()
	b := w.As(trade.Administrator)
	token := b.Get("/users").Token()
	other := w.As(trade.Accountant).Get("/account").Token()
	for _, r := range w.Console.Routes() {
		if r.Method != http.MethodPost {
			continue
		}
		path := pathOf(r.Path)
		for _, headers := range []http.Header{
			{"Origin": {"https://evil.example"}},
			{"Sec-Fetch-Site": {"cross-site"}},
			{"Sec-Fetch-Site": {"same-site"}},
			{"Origin": {"null"}},
		} {
			b.Header = headers
			b.Post(path, url.Values{"token": {token}}).Wants(http.StatusForbidden, "código “origin”")
		}
		b.Header = http.Header{}
		if r.Open {
			continue // it changes nothing but the browser's own cookies
		}
		b.Send(http.MethodPost, path, "text/plain", "token="+token).Wants(http.StatusForbidden, "código “token”")
		for _, wrong := range []string{"", "x", token + "x", other} {
			b.Post(path, url.Values{"token": {wrong}}).Wants(http.StatusForbidden, "código “token”")
		}
	}
	b.Get("/users/lia").Wants(http.StatusMethodNotAllowed)
	b.Header.Set("Sec-Fetch-Site", "same-origin")
	b.Post("/users/lia", url.Values{"token": {token}, "do": {"disable"}, "sure": {"1"}}).Wants(http.StatusSeeOther)
}

// Every answer has the headers, errors included, and no page has a script or a style of its own.
func TestEveryAnswerHasItsHeaders(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite)).WithPeople()
	b := w.As(trade.Administrator)
	inline := regexp.MustCompile(`(?i)<script(?: |>)[^>]*>[^<]|<style| style=| on[a-z]+=|javascript:`)
	check := func(name string) {
		t.Helper()
		for header, want := range map[string]string{
			"Content-Security-Policy":    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
			"X-Content-Type-Options":     "nosniff",
			"Referrer-Policy":            "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin",
		} {
			if got := b.Got.Get(header); got != want {
				t.Errorf("%s: %s is %q", name, header, got)
			}
		}
		if found := inline.FindString(b.Body); found != "" &&
			strings.HasPrefix(b.Got.Get("Content-Type"), "text/html") {
			t.Errorf("%s has %q", name, found)
		}
	}
	for _, r := range w.Console.Routes() {
		if r.Path != "/live" {
			b.Do(r.Method, pathOf(r.Path), url.Values{})
			check(r.Method + " " + r.Path)
		}
	}
	for _, path := range []string{"/nothing", "/rows?state=nonsense", "/static/x/nothing"} {
		b.Get(path)
		check(path)
	}
	b.Host = "evil.example"
	b.Get("/")
	check("another host")
}

// Only names that are configured are answered, and nobody is sent to another site.
func TestOtherHostsAndOtherSitesAreRefused(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite)).WithPeople()
	b := w.Browser()
	for host, status := range map[string]int{
		"127.0.0.1:8088": http.StatusOK, "console.example": http.StatusOK, "CONSOLE.example:443": http.StatusOK,
		"evil.example":           http.StatusMisdirectedRequest,
		"127.0.0.1.evil.example": http.StatusMisdirectedRequest, "localhost.": http.StatusMisdirectedRequest,
		"[::1]:80": http.StatusMisdirectedRequest,
	} {
		b.Host = host
		if b.Get("/login").Status != status {
			t.Errorf("host %s: %d, want %d", host, b.Status, status)
		}
	}
	b.Host = ""
	for _, next := range []string{
		"//evil.example", "https://evil.example/", "/\\evil.example", "\\\\evil.example",
		"javascript:alert(1)", "/%0d%0aLocation:evil", "http:evil.example", "///evil.example",
		"/\t/evil.example", "evil",
	} {
		b.Post("/login", url.Values{
			"name": {"carla"}, "password": {consoletest.Password},
			"next": {next},
		}).Wants(http.StatusSeeOther)
		if to := b.Got.Get("Location"); !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") ||
			strings.Contains(to, "\\") {
			t.Errorf("next=%q leads to %q", next, to)
		}
	}
	if got := web.Local("/rows?state=invalid&q=a%20b"); got != "/rows?state=invalid&q=a%20b" {
		t.Errorf("a path of ours became %s", got)
	}
}

// Behind a proxy only the proxy is answered, and the address that it saw is the one that counts.
func TestBehindAProxyTheLastAddressCounts(t *testing.T) {
	t.Parallel()
	s := consoletest.OpenStore(t, state.SQLite)
	behind := func(o *consoletest.Options) { o.Behind = netip.MustParsePrefix("127.0.0.1/32") }
	w := consoletest.New(t, s, behind).WithPeople()
	for told, want := range map[string]string{
		"1.1.1.1, 203.0.113.9":       "203.0.113.9",
		"203.0.113.9:51234":          "203.0.113.9", // as some proxies write it
		"1.1.1.1,[2001:db8::7]:4711": "2001:db8::7",
		"[2001:db8::8]":              "2001:db8::8",
		"2001:DB8::9":                "2001:db8::9",
		"unknown":                    "127.0.0.1", // the proxy's own
		"203.0.113.9:":               "127.0.0.1",
	} {
		b := w.Browser()
		b.Header.Set("X-Forwarded-For", told)
		b.LogIn("carla", consoletest.Password).Wants(http.StatusSeeOther)
		if records, err := s.Audit(t.Context(), 1); err != nil || records[0].From != "console "+want {
			t.Errorf("%q: %v, %v", told, records, err)
		}
	}
	elsewhere := consoletest.New(t, s, func(o *consoletest.Options) { o.Behind = netip.MustParsePrefix("10.0.0.0/8") })
	elsewhere.Browser().Get("/login").Wants(http.StatusForbidden, "código “proxy”")
}

// Connections that send nothing, or slowly, do not keep others from their answers; what is too long
// is refused.
func TestSlowAndHugeRequestsAreBounded(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite)).WithPeople()
	listener := must.Get((&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	server := console.Serve(listener, nil, zap.NewNop())
	t.Cleanup(server.Close)
	server.Show(w.Console)
	address := listener.Addr().String()
	for range 500 {
		conn := must.Get(net.Dial("tcp", address))(t)
		t.Cleanup(func() { _ = conn.Close() })
		must.Get(fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "))(t)
	}
	w.Server.URL = "http://" + address
	b := w.Browser()
	b.Client.Timeout = 30 * time.Second
	b.Get("/login").Wants(http.StatusOK)
	b.Post("/login",
		url.Values{"name": {strings.Repeat("x", 70<<10)}}).Wants(http.StatusRequestEntityTooLarge, "código “long”")
	conn := must.Get(net.Dial("tcp", address))(t)
	defer conn.Close()
	// as much as is read before it is refused
	must.Get(fmt.Fprintf(conn, "GET /login HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: %s",
		strings.Repeat("x", 36<<10)))(t)
	first := make([]byte, 12)
	if _, err := io.ReadFull(conn, first); err != nil || string(first) != "HTTP/1.1 431" {
		t.Errorf("a huge header: %q, %v", first, err)
	}
}

// What is not listed does not exist: no debugging, no metrics, no banner.
// With a certificate nobody is answered by less than TLS 1.2.
func TestOldTLSIsRefused(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite)).WithPeople()
	lent := httptest.NewTLSServer(nil)
	lent.Close()
	listener := must.Get((&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	server := console.Serve(listener, lent.TLS, zap.NewNop())
	t.Cleanup(server.Close)
	server.Show(w.Console)
	for version, answered := range map[uint16]bool{
		tls.VersionTLS10: false, tls.VersionTLS11: false,
		tls.VersionTLS12: true, tls.VersionTLS13: true,
	} {
		conn, err := tls.Dial("tcp", listener.Addr().String(),
			&tls.Config{MinVersion: version, MaxVersion: version, InsecureSkipVerify: true})
		if (err == nil) != answered {
			t.Errorf("%s: %v", tls.VersionName(version), err)
		}
		if err == nil {
			if err := conn.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestNothingElseExists(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite)).WithPeople()
	b := w.As(trade.Administrator)
	for _, path := range []string{
		"/debug/pprof/", "/debug/vars", "/metrics", "/healthz", "/readyz", "/.git/config",
		"/static/", "/static/x/../../guard.go", "/favicon.ico", "/robots.txt", "/admin", "/server-status",
	} {
		b.Get(path)
		if b.Status != http.StatusNotFound && b.Status != http.StatusMovedPermanently &&
			b.Status != http.StatusTemporaryRedirect {
			t.Errorf("%s: %d", path, b.Status)
		}
		if b.Got.Get("Server") != "" || b.Got.Get("X-Powered-By") != "" {
			t.Errorf("%s: a banner", path)
		}
	}
	if stranger := w.Browser().Get("/login"); strings.Contains(stranger.Body, "go1.") ||
		regexp.MustCompile(`safrasync [0-9v]`).MatchString(stranger.Body) {
		t.Error("the page of the login tells a version")
	}
}

// An error of the ledger is a code and a number to the browser; the log has the number and the
// cause.
func TestErrorsTellACodeAndNothingElse(t *testing.T) {
	t.Parallel()
	s := consoletest.OpenStore(t, state.SQLite)
	w := consoletest.New(t, s).WithPeople()
	b := w.As(trade.Administrator)
	b.Get("/users")
	token := b.Token()
	must.Do(t, s.Close())
	number := regexp.MustCompile(`código “internal”, número ([0-9a-f]{10})`)
	for _, r := range w.Console.Routes() {
		if r.Free || r.Path == "/licences" {
			continue
		}
		b.Do(r.Method, pathOf(r.Path), url.Values{"token": {token}, "name": {"x"}, "password": {"y"}})
		m := number.FindStringSubmatch(b.Body)
		if b.Status != http.StatusInternalServerError || m == nil {
			t.Errorf("%s %s: %d\n%s", r.Method, r.Path, b.Status, b.Body)
			continue
		}
		if !strings.Contains(w.Log.String(), m[1]) {
			t.Errorf("%s: the log does not have number %s", r.Path, m[1])
		}
		for _, leak := range []string{"sql", "database", "goroutine", ".go:", "state.db", "SELECT"} {
			if strings.Contains(b.Body, leak) {
				t.Errorf("%s %s tells %q", r.Method, r.Path, leak)
			}
		}
	}
}

// A file whose second half fails does not end like a whole one: the browser reports a failed download.
func TestHalfAFileIsAFailedDownload(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite)).WithPeople()
	half := func(path string, then func() error) web.Route {
		return web.Route{Method: http.MethodGet, Path: path, Open: true, Handle: func(q *web.Request) error {
			must.Get(io.WriteString(&pages.Late{Q: q, Name: "half.csv", Kind: "text/csv"}, "a;b\n"))(t)
			return then()
		}}
	}
	site := web.Site{
		Name: "C", Lang: trade.Portuguese, Zone: time.UTC, Now: w.Clock.Now, Log: zap.NewNop(),
		Refused: func(string, error) {},
	}
	c := console.New(console.Parts{
		Site: site, Sessions: w.Sessions, Hosts: []string{"127.0.0.1"},
		Pages: pages.New(w.Office, w.Sessions, half("/whole", func() error { return nil }),
			half("/fails", func() error { return io.ErrNoProgress }), half("/panics", func() error { panic("x") })),
	})
	t.Cleanup(c.Close)
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	for path, want := range map[string]error{
		"/whole": nil, "/fails": io.ErrUnexpectedEOF, "/panics": io.ErrUnexpectedEOF,
	} {
		request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, http.NoBody))(t)
		answer, err := server.Client().Do(request)
		if err == nil {
			_, err = io.ReadAll(answer.Body)
			err = errors.Join(err, answer.Body.Close())
		}
		if want == nil && err != nil || want != nil && !errors.Is(err, want) && !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Nothing on a page comes from elsewhere, and everything that a page asks for is there.
func TestPagesNeedNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite)).WithPeople()
	b := w.As(trade.Administrator)
	asked := regexp.MustCompile(`(?:src|href)="([^"]*)"|url\("?([^")]*)"?\)`)
	seen := map[string]bool{}
	for _, r := range w.Console.Routes() {
		path := pathOf(r.Path)
		if r.Method != http.MethodGet || path == "/live" { // that goes on
			continue
		}
		for _, m := range asked.FindAllStringSubmatch(b.Get(path).Body, -1) {
			if !strings.HasPrefix(m[1], "/") && !strings.HasPrefix(m[1], "#") || strings.HasPrefix(m[1], "//") {
				t.Errorf("%s asks for %s", path, m[1])
			}
			if strings.HasPrefix(m[1], "/static/") {
				seen[m[1]] = true
			}
		}
	}
	for path := range seen {
		b.Get(path).Wants(http.StatusOK)
		if !strings.HasSuffix(path, "style/console.css") {
			continue
		}
		base, _ := url.Parse(path)
		for _, m := range asked.FindAllStringSubmatch(b.Body, -1) {
			to, err := base.Parse(m[2])
			if err != nil || b.Get(to.Path).Status != http.StatusOK {
				t.Errorf("%s asks for %s, which is not there", path, m[2])
			}
		}
	}
	if len(seen) < 5 {
		t.Errorf("only %v", seen)
	}
}

// No account comes from the factory: before the first administrator is there, no page works, and
// each says how to add one.
func TestNoRouteWorksBeforeTheFirstAdministrator(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite))
	w.Add("lia", trade.Reader)
	for _, r := range w.Console.Routes() {
		if r.Free {
			continue
		}
		b := w.Browser()
		b.Do(r.Method, pathOf(r.Path), url.Values{
			"name":     {"lia"},
			"password": {consoletest.Password},
		}).Wants(http.StatusServiceUnavailable, "safrasync users add")
		if len(b.Got.Values("Set-Cookie")) > 0 {
			t.Errorf("%s %s sets a cookie", r.Method, r.Path)
		}
	}
	w.Add("ana", trade.Administrator)
	w.Browser().Get("/login").Wants(http.StatusOK, "Entrar")
}
