package console_test

import (
	"crypto/tls"
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
	"GET /rows":              trade.Reader, "POST /filters": trade.Reader, "GET /rows/{id}": trade.Reader,
	"POST /reveal/{id}": trade.Accountant, "GET /rows/{id}/{act}": trade.Accountant,
	"POST /rows/{id}/{act}": trade.Accountant, "POST /acts/{act}": trade.Accountant,
	"GET /report": trade.Reader, "POST /report/export": trade.Accountant, "POST /report/close/plan": trade.Accountant,
	"POST /report/close/do": trade.Accountant,
	"GET /users":            trade.Administrator, "POST /users": trade.Administrator,
	"POST /users/{name}": trade.Administrator,
	"GET /pending":       trade.Reader, "GET /pending/retry": trade.Accountant, "POST /pending/retry": trade.Accountant,
	"GET /doubts": trade.Reader, "GET /doubts/{id}": trade.Reader, "POST /doubts/{id}/plan": trade.Accountant,
	"POST /doubts/{id}/do": trade.Accountant,
	"GET /changed":         trade.Reader, "POST /changed/plan": trade.Accountant, "POST /changed/do": trade.Accountant,
	"GET /references": trade.Reader, "GET /references/{kind}": trade.Reader,
	"GET /references/{kind}/export": trade.Accountant, "POST /references/{kind}/set": trade.Administrator,
	"POST /references/{kind}/remove": trade.Administrator, "POST /references/{kind}/plan": trade.Administrator,
	"POST /references/{kind}/import": trade.Administrator,
	"GET /runs":                      trade.Reader, "GET /runs/{id}": trade.Reader,
	"GET /schedules": trade.Reader, "POST /schedules/{job}/plan": trade.Administrator,
	"POST /schedules/{job}/do": trade.Administrator,
	"GET /audit":               trade.Reader, "GET /audit/check": trade.Reader, "GET /audit/export": trade.Accountant,
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
func TestC06_EveryRouteForEveryRole(t *testing.T) {
	t.Parallel()
	w := newWorld(t, openStore(t, state.SQLite)).withPeople()
	browsers := map[trade.Role]*browser{everybody: w.browser()}
	for _, role := range trade.Roles {
		browsers[role] = w.as(role)
	}
	methods := map[string][]string{}
	for _, r := range console.Routes() {
		methods[pathOf(r.Path)] = append(methods[pathOf(r.Path)], r.Method)
		if r.Method != http.MethodGet && r.Method != http.MethodPost {
			t.Errorf("%s %s: only GET and POST", r.Method, r.Path)
		}
	}
	for _, r := range console.Routes() {
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
				b.do(method, path, url.Values{})
				listed := slices.Contains(methods[path], method) || method == "HEAD" &&
					slices.Contains(methods[path], "GET")
				switch {
				case !listed:
					if b.status != http.StatusMethodNotAllowed {
						t.Errorf("%s as %q: %s is not listed and answered %d", path, role, method, b.status)
					}
				case method != r.Method:
				case needs == everybody:
					if method == "GET" && b.status >= 400 {
						t.Errorf("%s %s as %q: %d", method, path, role, b.status)
					}
				case role == everybody && method == "GET":
					if b.status != http.StatusSeeOther || !strings.HasPrefix(b.got.Get("Location"), "/login") {
						t.Errorf("GET %s without a login: %d", path, b.status)
					}
				case role == everybody:
					if b.status != http.StatusUnauthorized {
						t.Errorf("POST %s without a login: %d", path, b.status)
					}
				case !role.May(needs):
					if b.status != http.StatusForbidden || !strings.Contains(b.body, "Código role") {
						t.Errorf("%s %s as %q: %d", method, path, role, b.status)
					}
				case method == "POST": // without a token
					if b.status != http.StatusForbidden || !strings.Contains(b.body, "Código token") {
						t.Errorf("POST %s as %q without a token: %d", path, role, b.status)
					}
				default:
					if b.status == http.StatusForbidden || b.status == http.StatusUnauthorized || b.status >= 500 {
						t.Errorf("%s %s as %q: %d", method, path, role, b.status)
					}
				}
			}
		}
	}
}

// A change needs the token of the login and comes from the same site.
func TestC07_ChangesComeFromOurOwnPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, openStore(t, state.SQLite)).withPeople()
	b := w.as(trade.Administrator)
	token := b.get("/users").token()
	other := w.as(trade.Accountant).get("/account").token()
	for _, r := range console.Routes() {
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
			b.header = headers
			b.do(http.MethodPost, path, url.Values{"token": {token}}).wants(http.StatusForbidden, "Código origin")
		}
		b.header = http.Header{}
		if r.Open {
			continue // it changes nothing but the browser's own cookies
		}
		b.send(http.MethodPost, path, "text/plain", "token="+token).wants(http.StatusForbidden, "Código token")
		for _, wrong := range []string{"", "x", token + "x", other} {
			b.do(http.MethodPost, path, url.Values{"token": {wrong}}).wants(http.StatusForbidden, "Código token")
		}
	}
	b.get("/users/lia").wants(http.StatusMethodNotAllowed)
	b.header.Set("Sec-Fetch-Site", "same-origin")
	b.do(http.MethodPost, "/users/lia", url.Values{"token": {token}, "do": {"disable"}}).wants(http.StatusSeeOther)
}

// Every answer has the headers, errors included, and no page has a script or a style of its own.
func TestC08_EveryAnswerHasItsHeaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t, openStore(t, state.SQLite)).withPeople()
	b := w.as(trade.Administrator)
	inline := regexp.MustCompile(`(?i)<script(?: |>)[^>]*>[^<]|<style| style=| on[a-z]+=|javascript:`)
	check := func(name string) {
		t.Helper()
		for header, want := range map[string]string{
			"Content-Security-Policy":    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
			"X-Content-Type-Options":     "nosniff",
			"Referrer-Policy":            "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin",
		} {
			if got := b.got.Get(header); got != want {
				t.Errorf("%s: %s is %q", name, header, got)
			}
		}
		if found := inline.FindString(b.body); found != "" &&
			strings.HasPrefix(b.got.Get("Content-Type"), "text/html") {
			t.Errorf("%s has %q", name, found)
		}
	}
	for _, r := range console.Routes() {
		if r.Path != "/live" {
			b.do(r.Method, pathOf(r.Path), url.Values{})
			check(r.Method + " " + r.Path)
		}
	}
	for _, path := range []string{"/nothing", "/rows?state=nonsense", "/static/x/nothing"} {
		b.get(path)
		check(path)
	}
	b.host = "evil.example"
	b.get("/")
	check("another host")
}

// Only names that are configured are answered, and nobody is sent to another site.
func TestC10_OtherHostsAndOtherSitesAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, openStore(t, state.SQLite)).withPeople()
	b := w.browser()
	for host, status := range map[string]int{
		"127.0.0.1:8088": http.StatusOK, "console.example": http.StatusOK, "CONSOLE.example:443": http.StatusOK,
		"evil.example":           http.StatusMisdirectedRequest,
		"127.0.0.1.evil.example": http.StatusMisdirectedRequest, "localhost.": http.StatusMisdirectedRequest,
		"[::1]:80": http.StatusMisdirectedRequest,
	} {
		if b.host = host; b.get("/login").status != status {
			t.Errorf("host %s: %d, want %d", host, b.status, status)
		}
	}
	b.host = ""
	for _, next := range []string{
		"//evil.example", "https://evil.example/", "/\\evil.example", "\\\\evil.example",
		"javascript:alert(1)", "/%0d%0aLocation:evil", "http:evil.example", "///evil.example",
		"/\t/evil.example", "evil",
	} {
		b.do(http.MethodPost, "/login", url.Values{
			"name": {"carla"}, "password": {password},
			"next": {next},
		}).wants(http.StatusSeeOther)
		if to := b.got.Get("Location"); !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") ||
			strings.Contains(to, "\\") {
			t.Errorf("next=%q leads to %q", next, to)
		}
	}
	if got := console.Local("/rows?state=invalid&q=a%20b"); got != "/rows?state=invalid&q=a%20b" {
		t.Errorf("a path of ours became %s", got)
	}
}

// Behind a proxy only the proxy is answered, and the address that it saw is the one that counts.
func TestBehindAProxyTheLastAddressCounts(t *testing.T) {
	t.Parallel()
	s := openStore(t, state.SQLite)
	w := newWorld(t, s, func(o *console.Options) { o.Behind = netip.MustParsePrefix("127.0.0.1/32") }).withPeople()
	b := w.browser()
	b.header.Set("X-Forwarded-For", "1.1.1.1, 203.0.113.9")
	b.logIn("carla", password).wants(http.StatusSeeOther)
	if records, err := s.Audit(t.Context(), 1); err != nil || records[0].From != "console 203.0.113.9" {
		t.Errorf("%v, %v", records, err)
	}
	elsewhere := newWorld(t, s, func(o *console.Options) { o.Behind = netip.MustParsePrefix("10.0.0.0/8") })
	elsewhere.browser().get("/login").wants(http.StatusForbidden, "Código proxy")
}

// Connections that send nothing, or slowly, do not keep others from their answers; what is too long
// is refused.
func TestC11_SlowAndHugeRequestsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, openStore(t, state.SQLite)).withPeople()
	listener, err := console.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := console.Serve(listener, nil, zap.NewNop())
	t.Cleanup(server.Close)
	server.Show(w.console, nil)
	address := listener.Addr().String()
	for range 500 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if _, err := fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "); err != nil {
			t.Fatal(err)
		}
	}
	w.server.URL = "http://" + address
	b := w.browser()
	b.client.Timeout = 30 * time.Second
	b.get("/login").wants(http.StatusOK)
	b.do(http.MethodPost, "/login",
		url.Values{"name": {strings.Repeat("x", 70<<10)}}).wants(http.StatusRequestEntityTooLarge, "Código long")
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// as much as is read before it is refused
	if _, err := fmt.Fprintf(conn, "GET /login HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: %s",
		strings.Repeat("x", 36<<10)); err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 12)
	if _, err := io.ReadFull(conn, first); err != nil || string(first) != "HTTP/1.1 431" {
		t.Errorf("a huge header: %q, %v", first, err)
	}
}

// What is not listed does not exist: no debugging, no metrics, no banner.
// C1: with a certificate nobody is answered by less than TLS 1.2.
func TestC01_OldTLSIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, openStore(t, state.SQLite)).withPeople()
	lent := httptest.NewTLSServer(nil)
	lent.Close()
	listener, err := console.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := console.Serve(listener, &lent.TLS.Certificates[0], zap.NewNop())
	t.Cleanup(server.Close)
	server.Show(w.console, &lent.TLS.Certificates[0])
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

func TestC12_NothingElseExists(t *testing.T) {
	t.Parallel()
	w := newWorld(t, openStore(t, state.SQLite)).withPeople()
	b := w.as(trade.Administrator)
	for _, path := range []string{
		"/debug/pprof/", "/debug/vars", "/metrics", "/healthz", "/readyz", "/.git/config",
		"/static/", "/static/x/../../guard.go", "/favicon.ico", "/robots.txt", "/admin", "/server-status",
	} {
		b.get(path)
		if b.status != http.StatusNotFound && b.status != http.StatusMovedPermanently &&
			b.status != http.StatusTemporaryRedirect {
			t.Errorf("%s: %d", path, b.status)
		}
		if b.got.Get("Server") != "" || b.got.Get("X-Powered-By") != "" {
			t.Errorf("%s: a banner", path)
		}
	}
	if stranger := w.browser().get("/login"); strings.Contains(stranger.body, "go1.") ||
		regexp.MustCompile(`safrasync [0-9v]`).MatchString(stranger.body) {
		t.Error("the page of the login tells a version")
	}
}

// An error of the ledger is a code and a number to the browser; the log has the number and the
// cause.
func TestC13_ErrorsTellACodeAndNothingElse(t *testing.T) {
	t.Parallel()
	s := openStore(t, state.SQLite)
	w := newWorld(t, s).withPeople()
	b := w.as(trade.Administrator)
	b.get("/users")
	token := b.token()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	number := regexp.MustCompile(`Código internal, número ([0-9a-f]{10})`)
	for _, r := range console.Routes() {
		if r.Free || r.Path == "/licences" {
			continue
		}
		b.do(r.Method, pathOf(r.Path), url.Values{"token": {token}, "name": {"x"}, "password": {"y"}})
		m := number.FindStringSubmatch(b.body)
		if b.status != http.StatusInternalServerError || m == nil {
			t.Errorf("%s %s: %d\n%s", r.Method, r.Path, b.status, b.body)
			continue
		}
		if !strings.Contains(w.log.String(), m[1]) {
			t.Errorf("%s: the log does not have number %s", r.Path, m[1])
		}
		for _, leak := range []string{"sql", "database", "goroutine", ".go:", "state.db", "SELECT"} {
			if strings.Contains(b.body, leak) {
				t.Errorf("%s %s tells %q", r.Method, r.Path, leak)
			}
		}
	}
}

// Nothing on a page comes from elsewhere, and everything that a page asks for is there.
func TestC16_PagesNeedNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, openStore(t, state.SQLite)).withPeople()
	b := w.as(trade.Administrator)
	asked := regexp.MustCompile(`(?:src|href)="([^"]*)"|url\("?([^")]*)"?\)`)
	seen := map[string]bool{}
	for _, r := range console.Routes() {
		path := pathOf(r.Path)
		if r.Method != http.MethodGet || path == "/live" { // that goes on
			continue
		}
		for _, m := range asked.FindAllStringSubmatch(b.get(path).body, -1) {
			if !strings.HasPrefix(m[1], "/") && !strings.HasPrefix(m[1], "#") || strings.HasPrefix(m[1], "//") {
				t.Errorf("%s asks for %s", path, m[1])
			}
			if strings.HasPrefix(m[1], "/static/") {
				seen[m[1]] = true
			}
		}
	}
	for path := range seen {
		b.get(path).wants(http.StatusOK)
		if !strings.HasSuffix(path, "style/console.css") {
			continue
		}
		base, _ := url.Parse(path)
		for _, m := range asked.FindAllStringSubmatch(b.body, -1) {
			to, err := base.Parse(m[2])
			if err != nil || b.get(to.Path).status != http.StatusOK {
				t.Errorf("%s asks for %s, which is not there", path, m[2])
			}
		}
	}
	if len(seen) < 5 {
		t.Errorf("only %v", seen)
	}
}
