package console

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"slices"
	gosync "sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/gzhttp"
	"go.uber.org/zap"

	"github.com/safrasync/safrasync/console/auth"
	"github.com/safrasync/safrasync/console/pages"
	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/connlimit"
	"github.com/safrasync/safrasync/trade"
)

// Parts are the parts of a console. A reload of the configuration builds a new one for the same
// listener.
type Parts struct {
	Site     web.Site
	Sessions *auth.Sessions
	Pages    *pages.Pages
	Hosts    []string     // host names under which browsers may request it, without port
	Behind   netip.Prefix // network of the proxy; zero: no proxy
}

// Console answers the browsers. It is built for one reading of the configuration.
type Console struct {
	Parts
	mux   *http.ServeMux
	cross *http.CrossOriginProtection

	working *connlimit.Places
	asking  connlimit.Count // requests in progress by address
	ending  context.Context // ends with Close; for streams
	end     context.CancelFunc
	busy    gosync.WaitGroup
	closing gosync.RWMutex
	closed  bool
}

// New builds a console.
func New(o Parts) *Console {
	o.Site.Issuer, o.Site.Waiting, o.Site.Titles = o.Sessions.Issuer(), o.Pages.Waiting, o.Pages.Titles
	c := &Console{
		Parts: o, mux: http.NewServeMux(), cross: http.NewCrossOriginProtection(),
		working: connlimit.NewPlaces(maxRequests, placeTimeout),
	}
	c.ending, c.end = context.WithCancel(context.Background())
	for _, r := range c.routes() {
		c.mux.Handle(r.Method+" "+r.Path, c.guard(r))
	}
	return c
}

// routes lists all routes. What is not listed does not exist, and nobody may use a route without a
// role unless it is open.
func (c *Console) routes() []web.Route {
	return slices.Concat(openRoutes, c.Sessions.Routes(), c.Pages.Routes())
}

// compressed answers in gzip where that is worth it. Padding that depends on its first 64 KB hides
// how well a page compresses, so that nobody finds a token of it by what a request adds (BREACH). Streams and
// files are answered as they are.
var compressed = func() func(http.Handler) http.HandlerFunc {
	types := []string{"text/html", "text/css", "text/javascript", "image/svg+xml"}
	wrap, err := gzhttp.NewWrapper(gzhttp.ContentTypes(types), gzhttp.EnableZstd(false),
		gzhttp.RandomJitter(32, 0, false))
	if err != nil {
		panic(err) // the options are constants
	}
	return wrap
}()

// ServeHTTP answers one request. After Close it only answers 503.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.closing.RLock()
	if c.closed {
		c.closing.RUnlock()
		http.Error(w, "restarting", http.StatusServiceUnavailable)
		return
	}
	c.busy.Add(1)
	c.closing.RUnlock()
	defer c.busy.Done()
	written := func() bool { return true }
	defer func() { written() }()
	began := gosync.OnceFunc(func() { // once the console ends, slow readers have closeWithin
		written = context.AfterFunc(c.ending, func() {
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(closeWithin))
		})
	})
	compressed(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { c.serve(w, r, began) }))(w, r)
}

// Close ends streams and waits for the other answers, for slow readers at most closeWithin.
func (c *Console) Close() {
	c.closing.Lock()
	c.closed = true
	c.closing.Unlock()
	c.end()
	c.busy.Wait()
}

// What the console accepts at once. A request beyond one of the first three numbers waits, at most for
// placeTimeout, and is answered with 503 then; what is beyond the others is refused immediately.
const (
	maxRequests          = 16 // requests that are processed at once
	maxAnonymousRequests = 12 // of these, from one address without a login
	maxPersonRequests    = 4  // of these, of one person
	placeTimeout         = 5 * time.Second

	maxConns = 2048
	// connections from one address, and requests of one address behind the reverse proxy
	maxPerAddress  = 512
	maxFormBytes   = 64 << 10
	maxHeaderBytes = 32 << 10
)

// openRoutes are the routes that need no login, beside those of the login itself.
var openRoutes = []web.Route{
	{Method: http.MethodGet, Path: "/static/{version}/{file...}", Open: true, Free: true, Handle: serveStatic},
	{Method: http.MethodGet, Path: "/licences", Open: true, Handle: showLicences},
	{Method: http.MethodPost, Path: "/preferences", Open: true, Handle: setPreferences},
}

func serveStatic(q *web.Request) error {
	content, kind, ok := view.File(q.PathValue("file"))
	if !ok {
		return web.ErrNotFound
	}
	q.Answered = true
	h := q.Writer.Header()
	h.Set("Content-Type", kind)
	if q.PathValue("version") == view.Asset.Version {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if q.Method != http.MethodHead {
		_, _ = q.Writer.Write(content)
	}
	return nil
}

// showLicences lists the licences of the third-party parts of the pages.
func showLicences(q *web.Request) error {
	names, err := view.Licences()
	return q.Show("licences", names, err)
}

// setPreferences stores the language and the appearance in the browser.
func setPreferences(q *web.Request) error {
	q.Prefer(trade.Lang(q.PostForm.Get("lang")), q.PostForm.Get("theme"))
	return q.Redirect(web.Local(q.PostForm.Get("next")))
}

// Server serves consoles at one address. Each reading of the configuration builds another console;
// browsers do not notice the change.
type Server struct {
	server  *connlimit.Serving
	current atomic.Pointer[Console]
}

// Serve answers on a listener until Close, with TLS if there is a configuration of it. Show sets the
// console that answers.
func Serve(listener net.Listener, secure *tls.Config, log *zap.Logger) *Server {
	s := &Server{}
	bounded := &connlimit.Listener{
		Listener: listener, Most: maxConns, Each: maxPerAddress,
		Shared: func(address netip.Addr) bool {
			c := s.current.Load()
			return c != nil && c.Behind.IsValid() && c.Behind.Contains(address)
		},
		OnRefused: func() {
			if c := s.current.Load(); c != nil {
				c.Site.Refused("connection", nil)
			}
		},
	}
	server := &http.Server{Handler: s, ReadTimeout: 15 * time.Second, MaxHeaderBytes: maxHeaderBytes}
	s.server = connlimit.Serve(server, bounded, secure, log, "the console is no longer served")
	return s
}

// Show makes another console answer from now on. The previous one ends when its answers are
// complete.
func (s *Server) Show(c *Console) {
	if old := s.current.Swap(c); old != nil {
		old.Close()
	}
}

// ServeHTTP passes a request to the current console.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if c := s.current.Load(); c != nil {
		c.ServeHTTP(w, r)
		return
	}
	http.Error(w, "starting", http.StatusServiceUnavailable)
}

// Close accepts no new connection, and gives the answers in progress a few seconds.
func (s *Server) Close() {
	if c := s.current.Load(); c != nil {
		c.end() // ends streams
	}
	s.server.Close(closeWithin)
	if c := s.current.Load(); c != nil {
		c.Close()
	}
}

// closeWithin is how long a browser may take to read its answer after the service ends or reloads
// its configuration.
const closeWithin = 5 * time.Second
