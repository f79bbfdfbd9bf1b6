package console

import (
	"context"
	"net/http"
	"net/netip"
	gosync "sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/internal/connlimit"
	"github.com/safrasync/safrasync/trade"
)

// Options are what a console is made of. A reload of the configuration makes a new one on the same
// listener.
type Options struct {
	Users  Users
	Logins Logins
	Ports  Ports
	OpenID *OpenID // nil: people log in by a password of this ledger only

	Name   string         // of the installation
	Lang   trade.Lang     // where a person has not chosen
	Zone   *time.Location // of the cooperative
	Hosts  []string       // names by which browsers may ask for it, without port
	Secure bool           // browsers reach it by TLS, of its own or of the proxy
	Behind netip.Prefix   // where the proxy asks from; zero: there is none
	Idle   time.Duration  // after which a login ends that is not used
	Most   time.Duration  // after which a login ends in any case
	Now    func() time.Time
	Log    *zap.Logger
}

// Console answers the browsers. It is made for one reading of the configuration.
type Console struct {
	Options
	mux    *http.ServeMux
	cross  *http.CrossOriginProtection
	hashes *hasher
	days   chartDays

	administered atomic.Bool // somebody can look after people; that never ceases
	working      chan struct{}
	asking       connlimit.Count // requests of each address
	streams      streams
	reporting    chan struct{}                             // a report is made
	beats        func() (at <-chan time.Time, stop func()) // of a live stream
	ending       context.Context                           // ended by Close: for answers that go on
	end          context.CancelFunc
	busy         gosync.WaitGroup
	closing      gosync.RWMutex
	closed       bool
}

// New puts a console together.
func New(o Options) *Console {
	c := &Console{
		Options: o, mux: http.NewServeMux(), cross: http.NewCrossOriginProtection(),
		hashes: newHasher(), working: make(chan struct{}, atOnce), reporting: make(chan struct{}, 1),
	}
	c.beats = func() (<-chan time.Time, func()) {
		t := time.NewTicker(streamBeat)
		return t.C, t.Stop
	}
	c.ending, c.end = context.WithCancel(context.Background())
	for _, r := range routes() {
		c.mux.Handle(r.method+" "+r.path, c.guard(r))
	}
	return c
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

// Prune forgets logins and tries that are over. It belongs to the housekeeping.
func Prune(ctx context.Context, logins Logins, now time.Time, idle, most time.Duration) error {
	return logins.PruneLogins(ctx, now.Add(-most), now.Add(-idle-seenStep), now.Add(-triesKept), now.Add(-deviceKept))
}
