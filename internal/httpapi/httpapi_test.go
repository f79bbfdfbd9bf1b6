package httpapi_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/httpapi"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

const (
	button = "canary-token-of-the-button-5f1d0b7c2a"
	panel  = "canary-token-of-the-panel-77aa0c3e9b1"
	table  = "canary-token-of-the-table-29d07fa1c44"
)

// ordered is a run that a program ordered.
type ordered struct {
	job      string
	sweep    bool
	by, from string
}

// listed is a question for rows.
type listed struct {
	trade.RowQuery
	lang trade.Lang
}

// jobs is an office that takes orders for the job contracts.
type jobs struct {
	orders []ordered
	asked  []string
	lists  []listed
	fails  error
}

func (j *jobs) OrderRun(_ context.Context, job string, sweep bool, by, from string) error {
	if j.fails != nil {
		return j.fails
	}
	if job != "contracts" {
		return &office.Refusal{Code: office.UnknownJob, Text: "there is no job " + job}
	}
	j.orders = append(j.orders, ordered{job, sweep, by, from})
	return nil
}

func (j *jobs) ProgramRow(_ context.Context, job, key string, lang trade.Lang) (office.ProgramRow, error) {
	if j.fails != nil {
		return office.ProgramRow{}, j.fails
	}
	j.asked = append(j.asked, job+" "+key+" "+string(lang))
	return office.ProgramRow{}, nil
}

func (j *jobs) ProgramRows(_ context.Context, asked trade.RowQuery, lang trade.Lang) (office.RowsPage, error) {
	j.lists = append(j.lists, listed{asked, lang})
	return office.RowsPage{Rows: []office.ProgramRow{}, Cursor: "next"}, j.fails
}

func (j *jobs) Status(context.Context) ([]office.JobStatus, error) { return nil, j.fails }

// desk is an API with its engine, a clock that a test sets, and what was logged.
type desk struct {
	*jobs
	t    *testing.T
	api  *httpapi.API
	now  time.Time
	logs *observer.ObservedLogs
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	core, logs := observer.New(zap.DebugLevel)
	d := &desk{jobs: &jobs{}, t: t, now: time.Date(2026, 8, 10, 12, 0, 0, 0, time.UTC), logs: logs}
	d.api = httpapi.New(httpapi.Settings{
		Office: d.jobs, Rate: 0.5, Version: "1.0.0", Now: func() time.Time { return d.now }, Log: zap.New(core),
		Refused: func(string, error) {},
		Tokens: []httpapi.Token{
			httpapi.NewToken("erp-botao", button, config.ScopeRun),
			httpapi.NewToken("painel", panel, config.ScopeStatus),
			httpapi.NewToken("erp-contratos", table, config.ScopeRows),
		},
	})
	return d
}

// ask sends a request from an address; head is that of the Authorization.
func (d *desk) ask(from, method, path, head, body string) *http.Response {
	d.t.Helper()
	r := httptest.NewRequestWithContext(d.t.Context(), method, path, strings.NewReader(body))
	r.RemoteAddr = from
	r.Header.Set("Content-Type", "application/json")
	if head != "" {
		r.Header.Set("Authorization", head)
	}
	w := httptest.NewRecorder()
	d.api.ServeHTTP(w, r)
	answer := w.Result()
	text := must.Get(io.ReadAll(answer.Body))(d.t)
	for _, token := range []string{button, panel} {
		if strings.Contains(string(text), token) {
			d.t.Errorf("%s %s tells a token: %s", method, path, text)
		}
	}
	answer.Body = io.NopCloser(strings.NewReader(string(text)))
	return answer
}

func (d *desk) wants(status int, answer *http.Response) {
	d.t.Helper()
	if answer.StatusCode != status {
		text, err := io.ReadAll(answer.Body)
		d.t.Errorf("the answer is %d, want %d: %s %v", answer.StatusCode, status, text, err)
	}
}

const order = `{"job":"contracts"}`

// Nothing happens without a token that the configuration has, shown as it must be, with the scope.
func TestOnlyATokenWithTheScopeOrders(t *testing.T) {
	t.Parallel()
	for head, status := range map[string]int{
		"": 401, button: 401, "Bearer": 401, "Bearer ": 401, "Basic " + button: 401, "Bearer " + button + " ": 401,
		"Bearer " + button[1:]: 401, "Bearer " + strings.ToUpper(button): 401, "Bearer " + panel: 403,
		"Bearer " + button: 202, "bearer " + button: 202,
	} {
		d := newDesk(t)
		d.wants(status, d.ask("192.0.2.1:4000", "POST", "/api/v1/runs", head, order))
		if ordered := len(d.orders) == 1; ordered != (status == 202) {
			t.Errorf("with %q ordered: %t", head, ordered)
		}
	}
	d := newDesk(t)
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/api/v1/runs", strings.NewReader(order))
	r.Header["Authorization"] = []string{"Bearer " + button, "Bearer " + button}
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	if d.api.ServeHTTP(w, r); w.Code != http.StatusUnauthorized {
		t.Errorf("two headers: %d", w.Code)
	}
}

// The engine is told who orders and from where, and no log line has a token.
func TestAnOrderNamesTheTokenAndTheAddress(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.wants(202, d.ask("192.0.2.1:4000", "POST", "/api/v1/runs", "Bearer "+button, `{"job":"contracts","sweep":true}`))
	d.wants(401, d.ask("192.0.2.1:4000", "POST", "/api/v1/runs", "Bearer "+button+"x", order))
	want := ordered{"contracts", true, "erp-botao", "192.0.2.1"}
	if len(d.orders) != 1 || d.orders[0] != want {
		t.Errorf("the orders are %+v, want %+v", d.orders, want)
	}
	if d.logs.Len() == 0 {
		t.Error("the log does not have the order")
	}
	for _, line := range d.logs.All() {
		text, err := json.Marshal([]any{line.Message, line.ContextMap()})
		if err != nil || strings.Contains(string(text), "canary-token") {
			t.Errorf("the log: %s %v", text, err)
		}
	}
}

// A token has ten requests at once, wherever they come from, and an address ten without a right one;
// then as many as the rate allows.
func TestATokenAndAnAddressHaveABoundedRate(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	from := func(i int) string { return "192.0.2." + string(rune('0'+i%10)) + ":4000" }
	for i := range 10 {
		d.wants(202, d.ask(from(i), "POST", "/api/v1/runs", "Bearer "+button, order))
	}
	late := d.ask("198.51.100.1:4000", "POST", "/api/v1/runs", "Bearer "+button, order)
	d.wants(429, late)
	if after := late.Header.Get("Retry-After"); after != "3" {
		t.Errorf("Retry-After: %q", after)
	}
	d.wants(200, d.ask("198.51.100.1:4000", "GET", "/api/v1/status", "Bearer "+panel, "")) // another token has its own
	d.now = d.now.Add(2 * time.Second)
	d.wants(202, d.ask(from(1), "POST", "/api/v1/runs", "Bearer "+button, order))

	for range 10 { // guesses count too, and an IPv6 host has one rate for all its addresses
		d.wants(401, d.ask("[2001:db8::1]:4000", "POST", "/api/v1/runs", "Bearer guess", order))
	}
	d.wants(429, d.ask("[2001:db8::2]:4000", "GET", "/api/v1/openapi.json", "", ""))
	// who guesses beside a program does not use up its budget
	d.wants(200, d.ask("[2001:db8::3]:4000", "GET", "/api/v1/status", "Bearer "+panel, ""))
	if len(d.orders) != 11 {
		t.Errorf("%d orders, want 11", len(d.orders))
	}
}

// Senders that come once each take no memory for ever, and those beyond a bound share one rate.
func TestManyAddressesShareARate(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ask := func(i int) int {
		at := "10." + itoa(i/65536) + "." + itoa(i/256%256) + "." + itoa(i%256) + ":1"
		answer := d.ask(at, "GET", "/api/v1/openapi.json", "", "")
		return answer.StatusCode
	}
	refused := 0
	for i := range 1100 {
		if ask(i) == http.StatusTooManyRequests {
			refused++
		}
	}
	if want := 1100 - 1024 - 10; refused != want {
		t.Errorf("%d of 1100 addresses were refused, want %d", refused, want)
	}
	d.now = d.now.Add(time.Hour)
	if status := ask(5000); status != http.StatusOK {
		t.Errorf("an hour later: %d", status)
	}
}

func itoa(n int) string {
	text, _ := json.Marshal(n)
	return string(text)
}

func TestWhatIsNoOrderIsRefused(t *testing.T) {
	t.Parallel()
	for body, status := range map[string]int{
		`{"job":"contracts","sweep":false}`: 202, `{"job":"other"}`: 404, ``: 400, `null`: 400, `[]`: 400, `{}`: 400,
		`{"job":""}`: 400, `{"job":1}`: 400, `{"job":"contracts","more":1}`: 400, order + order: 400,
		`{"job":"` + strings.Repeat("x", 5000) + `"}`: 400, `{"job":"contracts","sweep":"yes"}`: 400,
	} {
		d := newDesk(t)
		answer := d.ask("192.0.2.1:4000", "POST", "/api/v1/runs", "Bearer "+button, body)
		if answer.StatusCode != status {
			t.Errorf("%.40s: %d, want %d", body, answer.StatusCode, status)
		}
	}
	d := newDesk(t)
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/api/v1/runs", strings.NewReader(order))
	r.Header.Set("Authorization", "Bearer "+button)
	r.Header.Set("Content-Type", "text/plain") // what a page of another site could send without asking
	w := httptest.NewRecorder()
	if d.api.ServeHTTP(w, r); w.Code != http.StatusBadRequest || len(d.orders) > 0 {
		t.Errorf("another Content-Type: %d", w.Code)
	}
	d.wants(405, d.ask("192.0.2.1:4000", "GET", "/api/v1/runs", "Bearer "+button, ""))
	d.wants(405, d.ask("192.0.2.1:4000", "DELETE", "/api/v1/status", "Bearer "+panel, ""))
	d.wants(404, d.ask("192.0.2.1:4000", "GET", "/", "", ""))
}

// A ledger that does not answer is 503, and only the log has the cause.
func TestALedgerThatDoesNotAnswerIsToldAsSuch(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.fails = errors.New("disk full at /secret/place")
	for _, answer := range []*http.Response{
		d.ask("192.0.2.1:4000", "POST", "/api/v1/runs", "Bearer "+button, order),
		d.ask("192.0.2.1:4000", "GET", "/api/v1/status", "Bearer "+panel, ""),
	} {
		d.wants(503, answer)
		if text, err := io.ReadAll(answer.Body); err != nil || strings.Contains(string(text), "secret") {
			t.Errorf("the answer is %s, %v", text, err)
		}
	}
	if n := d.logs.FilterMessageSnippet("could not be answered").Len(); n != 2 {
		t.Errorf("the log has %d lines, want 2", n)
	}
}

// The page for people has every operation of the document.
func TestThePageShowsTheDocument(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	answer := d.ask("192.0.2.1:4000", "GET", "/api/v1/", "", "")
	d.wants(200, answer)
	text := must.Get(io.ReadAll(answer.Body))(t)
	for _, path := range []string{"/api/v1/", "/api/v1/openapi.json"} { // the version is not for strangers
		for token, told := range map[string]bool{"": false, "Bearer x": false, "Bearer " + panel: true} {
			body := must.Get(io.ReadAll(d.ask("192.0.2.2:4000", "GET", path, token, "").Body))(t)
			if strings.Contains(string(body), "1.0.0") != told {
				t.Errorf("%s with the token %q tells the version: %v", path, token, !told)
			}
		}
	}
	for _, want := range []string{
		"safrasync <small>v1</small>", "POST /api/v1/runs", "GET /api/v1/status", "Scope: <code>run</code>",
		"<td>409</td>", "rate_limited",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page does not have %q:\n%s", want, text)
		}
	}
}

// By TLS an API is served with the certificate of the configuration, until the service closes, and
// another reading of the configuration answers from then on.
func TestTheAPIIsServedByTLS(t *testing.T) {
	t.Parallel()
	maker := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate, and a client that knows it
	defer maker.Close()
	listener := must.Get((&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	first, second := newDesk(t), newDesk(t)
	server := httpapi.Serve(listener, &tls.Config{Certificates: maker.TLS.Certificates}, first.api)
	address := "https://" + listener.Addr().String() + "/api/v1/runs"
	post := func() int {
		t.Helper()
		r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(order)))(t)
		r.Header.Set("Authorization", "Bearer "+button)
		r.Header.Set("Content-Type", "application/json")
		answer, err := maker.Client().Do(r)
		if err != nil {
			return 0
		}
		_ = answer.Body.Close()
		return answer.StatusCode
	}
	if status := post(); status != http.StatusAccepted {
		t.Errorf("the first API answers %d", status)
	}
	server.Show(second.api)
	if status := post(); status != http.StatusAccepted || len(first.orders) != 1 || len(second.orders) != 1 {
		t.Errorf("after another reading: %d, %v, %v", status, first.orders, second.orders)
	}
	server.Close()
	if status := post(); status != 0 {
		t.Errorf("after its end it answers %d", status)
	}
}

// A key is one segment of the path, whatever it has in it.
func TestAKeyOfAnyCharactersIsFound(t *testing.T) {
	t.Parallel()
	for _, key := range []string{
		"01|000123", "a/b", "a//b", "/", "//", "..", "../x", ".", "a b", "100%", "%2F", "a+b", "ção|1", `a\|b`, "?x=1#y", "|", "a;b=c",
	} {
		d := newDesk(t)
		d.wants(200, d.ask("192.0.2.1:4000", "GET", "/api/v1/rows/contracts/"+escaped(key), "Bearer "+table, ""))
		d.wants(200, d.ask("192.0.2.1:4000", "GET",
			"/api/v1/rows?"+url.Values{"job": {"contracts"}, "key": {key}}.Encode(), "Bearer "+table, ""))
		want := "contracts " + key + " pt-BR"
		if !slices.Equal(d.asked, []string{want, want}) {
			t.Errorf("%q: asked for %q", key, d.asked)
		}
	}
}

// escaped escapes a key as docs/events.md says: what is no letter, digit, - or _, by its bytes.
func escaped(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(url.PathEscape(key), "+", "%2B"), ".", "%2E")
}

// What is asked for is taken as it was written, and nothing is guessed of what was misspelt.
func TestWhatIsAskedOfRowsIsTakenOrRefused(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	for query, want := range map[string]*trade.RowQuery{
		"":                                 {Limit: 100},
		"?job=a&job=b&state=held":          {Jobs: []string{"a", "b"}, States: []trade.State{trade.Held}, Limit: 100},
		"?since=2026-11-21T06:00:00-03:00": {From: at, Limit: 100},
		"?limit=500&cursor=x":              {Limit: 500, After: "x"},
		"?since=2026-11-21T06:00:00+03:00": nil, // + is a blank
		"?since=yesterday":                 nil,
		"?limit=501":                       nil,
		"?limit=0":                         nil,
		"?limit=5&limit=6":                 nil,
		"?state=sent":                      nil,
		"?stat=held":                       nil,
		"?key=1":                           nil,
		"?key=1&job=a&job=b":               nil,
		"?key=1&job=a&state=held":          nil,
		"?key=&job=a":                      nil,
	} {
		d := newDesk(t)
		status := 200
		if want == nil {
			status = 400
		}
		d.wants(status, d.ask("192.0.2.1:4000", "GET", "/api/v1/rows"+query, "Bearer "+table, ""))
		if want == nil {
			continue
		}
		if len(d.lists) != 1 || !d.lists[0].From.Equal(want.From) {
			t.Errorf("%s: %+v", query, d.lists)
			continue
		}
		d.lists[0].From = want.From
		if diff := cmp.Diff(listed{*want, trade.Portuguese}, d.lists[0], cmp.AllowUnexported(listed{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
}

// Words are in the language that is asked for, Portuguese without one; a token needs the scope.
func TestTheWordsOfARowAreInTheLanguageAskedFor(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"": "pt-BR", "de": "pt-BR", "en": "en", "en-GB,pt;q=0.5": "en", "pt-BR,en": "pt-BR",
		"en;q=0.2, pt;q=0.7": "pt-BR",
		"en;q=0":             "pt-BR", "*": "pt-BR", "fr,en;q=0.1": "en", "en;q=x": "pt-BR",
	} {
		d := newDesk(t)
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/api/v1/rows/contracts/1", nil)
		r.Header.Set("Authorization", "Bearer "+table)
		r.Header.Set("Accept-Language", header)
		w := httptest.NewRecorder()
		if d.api.ServeHTTP(w, r); w.Code != http.StatusOK || d.asked[0] != "contracts 1 "+want ||
			w.Header().Get("Content-Language") != want {
			t.Errorf("%q: %d, %v, %v", header, w.Code, d.asked, w.Header())
		}
	}
	for _, path := range []string{"/api/v1/rows", "/api/v1/rows/contracts/1"} {
		d := newDesk(t)
		d.wants(403, d.ask("192.0.2.1:4000", "GET", path, "Bearer "+panel, ""))
		d.wants(401, d.ask("192.0.2.1:4000", "GET", path, "", ""))
		d.wants(405, d.ask("192.0.2.1:4000", "POST", path, "Bearer "+table, ""))
	}
}
