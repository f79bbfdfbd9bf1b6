package console

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	gosync "sync"

	"github.com/safrasync/safrasync/console/auth"
	"github.com/safrasync/safrasync/console/pages"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/connlimit"
)

// Options are what a console is made of. A reload of the configuration makes a new one on the same
// listener.
type Options struct {
	Site     web.Site
	Sessions *auth.Sessions
	Pages    *pages.Pages
	Hosts    []string     // names by which browsers may ask for it, without port
	Behind   netip.Prefix // where the proxy asks from; zero: there is none
}

// Console answers the browsers. It is made for one reading of the configuration.
type Console struct {
	Options
	mux   *http.ServeMux
	cross *http.CrossOriginProtection

	working chan struct{}
	asking  connlimit.Count // requests of each address
	ending  context.Context // ended by Close: for answers that go on
	end     context.CancelFunc
	busy    gosync.WaitGroup
	closing gosync.RWMutex
	closed  bool
}

// New puts a console together.
func New(o Options) *Console {
	o.Site.Issuer, o.Site.Waiting, o.Site.Titles = o.Sessions.Issuer(), o.Pages.Waiting, o.Pages.Titles
	c := &Console{
		Options: o, mux: http.NewServeMux(), cross: http.NewCrossOriginProtection(),
		working: make(chan struct{}, atOnce),
	}
	c.ending, c.end = context.WithCancel(context.Background())
	for _, r := range c.routes() {
		c.mux.Handle(r.Method+" "+r.Path, c.guard(r))
	}
	return c
}

// routes lists everything that exists. A route that is not there does not exist, and one without a
// role nobody may use.
func (c *Console) routes() []web.Route {
	return slices.Concat(openRoutes, c.Sessions.Routes(), c.Pages.Routes())
}

// ServeHTTP answers one request. After Close it answers none.
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
	c.serve(w, r)
}

// Close ends answers that go on, and waits for the others: closeWithin at most for those who read.
func (c *Console) Close() {
	c.closing.Lock()
	c.closed = true
	c.closing.Unlock()
	c.end()
	c.busy.Wait()
}
