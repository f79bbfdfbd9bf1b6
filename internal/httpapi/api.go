package httpapi

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"golang.org/x/time/rate"

	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/connlimit"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

// Office is what the API needs of the office, whose answers are those of the API.
type Office interface {
	OrderRun(ctx context.Context, job string, sweep bool, by, from string) error
	Status(ctx context.Context) ([]office.JobStatus, error)
	ProgramRow(ctx context.Context, job, key string, lang trade.Lang) (office.ProgramRow, error)
	ProgramRows(ctx context.Context, q trade.RowQuery, lang trade.Lang) (office.RowsPage, error)
}

// DefaultRate is how many requests per second a token may send, and an address without one.
const DefaultRate = 10.0

// Settings configures an API.
type Settings struct {
	Office  Office
	Tokens  []Token
	Rate    float64 // requests per second, of a token and of an address
	Version string
	Now     func() time.Time
	Log     *zap.Logger
	Refused func(cause string, err error) // counts what strangers are refused
}

// API answers requests, configured by one reading of the configuration.
type API struct {
	Settings
	mux    *http.ServeMux
	limits *limits
}

// New returns an API.
func New(o Settings) *API {
	l := &limits{
		rate: rate.Limit(o.Rate), burst: max(leastBurst, int(5*o.Rate)),
		senders: map[netip.Prefix]*rate.Limiter{},
	}
	for range o.Tokens {
		l.tokens = append(l.tokens, l.one())
	}
	l.others = l.one()
	a := &API{Settings: o, mux: http.NewServeMux(), limits: l}
	a.mux.HandleFunc("POST /api/v1/runs", a.allowed(config.ScopeRun, a.run))
	a.mux.HandleFunc("GET /api/v1/status", a.allowed(config.ScopeStatus, a.status))
	a.mux.HandleFunc("GET /api/v1/rows", a.allowed(config.ScopeRows, a.rows))
	a.mux.HandleFunc("GET /api/v1/rows/{job}/{key...}", a.allowed(config.ScopeRows, a.row))
	a.mux.HandleFunc("GET /api/v1/openapi.json", a.document)
	a.mux.HandleFunc("GET /api/v1/{$}", a.page)
	a.mux.HandleFunc("/api/v1/runs", a.otherMethod("POST"))
	for _, path := range []string{"status", "rows", "rows/{job}/{key...}"} {
		a.mux.HandleFunc("/api/v1/"+path, a.otherMethod("GET"))
	}
	a.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		a.fail(w, http.StatusNotFound, "not_found", "nothing is here; GET /api/v1/openapi.json describes what there is")
	})
	return a
}

// ServeHTTP answers a request, unless its address has exceeded the rate.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	if _, known := find(a.Tokens, r); !known && !a.limits.sender(r, a.Now()) { // a program has its token's budget
		a.tooMany(w)
		return
	}
	a.mux.ServeHTTP(w, r)
}

// allowed returns a handler that passes on requests with a token that has the scope, within the
// token's rate.
func (a *API) allowed(scope string, next func(http.ResponseWriter, *http.Request, Token)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		i, ok := find(a.Tokens, r)
		if !ok {
			a.Refused("token", nil)
			w.Header().Set("WWW-Authenticate", `Bearer realm="safrasync"`)
			a.fail(w, http.StatusUnauthorized, "unauthorized",
				"show a token that the configuration has: Authorization: Bearer TOKEN")
			return
		}
		connlimit.Know(r.Context())
		if !a.limits.tokens[i].AllowN(a.Now(), 1) {
			a.tooMany(w)
			return
		}
		if !slices.Contains(a.Tokens[i].scopes, scope) {
			a.fail(w, http.StatusForbidden, "forbidden", "this token does not have the scope "+scope)
			return
		}
		next(w, r, a.Tokens[i])
	}
}

func (a *API) tooMany(w http.ResponseWriter) {
	a.Refused("rate", nil)
	// by then one more request is allowed
	w.Header().Set("Retry-After", strconv.Itoa(int(1/float64(a.limits.rate))+1))
	a.fail(w, http.StatusTooManyRequests, "rate_limited", "too many requests; ask again later")
}

func (a *API) otherMethod(method string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", method)
		a.fail(w, http.StatusMethodNotAllowed, "method_not_allowed", "this address takes "+method+" only")
	}
}

// problem is the error in the body of every answer that is not a success.
type problem struct {
	Code string `json:"code"` // for programs
	Text string `json:"text"` // for people, English
}

func (a *API) fail(w http.ResponseWriter, status int, code, text string) {
	a.answer(w, status, struct {
		Error problem `json:"error"`
	}{problem{code, text}})
}

// broken logs the error, and answers that something went wrong.
func (a *API) broken(w http.ResponseWriter, r *http.Request, err error) {
	a.Log.Error("http_api: a request could not be answered", zap.String("path", r.URL.Path), zap.Error(err))
	a.fail(w, http.StatusServiceUnavailable, "unavailable",
		"the ledger did not answer, or the service is ending; the log has the cause")
}

func (a *API) answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(body) // the caller is gone
}

// The maximum number of connections, in total and of one address. Callers are few, and the file
// descriptors are needed for sending.
const (
	connsMost = 32
	connsEach = 16
)

// closeWithin is how long an answer may take when the service ends.
const closeWithin = 5 * time.Second

// Listener serves the API at one address. Each reading of the configuration leads to another API.
type Listener struct {
	server  *connlimit.Serving
	current atomic.Pointer[API]
}

// Serve answers at a listener until Close, over TLS if secure is not nil.
func Serve(listener net.Listener, secure *tls.Config, api *API) *Listener {
	s := &Listener{}
	s.current.Store(api)
	bounded := &connlimit.Listener{
		Listener: listener, Most: connsMost, Each: connsEach,
		OnRefused: func() { s.current.Load().Refused("connection", nil) },
	}
	server := &http.Server{Handler: s, ReadTimeout: 10 * time.Second, MaxHeaderBytes: 8 << 10}
	s.server = connlimit.Serve(server, bounded, secure, api.Log, "http_api is no longer served")
	return s
}

// ServeHTTP passes a request to the current API.
func (s *Listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.current.Load().ServeHTTP(w, r)
}

// Show makes api answer from now on.
func (s *Listener) Show(api *API) { s.current.Store(api) }

// Close stops accepting connections, waits up to closeWithin for answers in progress, and returns
// when the server has ended.
func (s *Listener) Close() { s.server.Close(closeWithin) }
