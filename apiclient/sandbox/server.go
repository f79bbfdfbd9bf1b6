package sandbox

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
)

// maxBodyBytes is the largest body read. The document sets no limit, so this one is not the
// platform's; it only protects the sandbox. A creation is about 700 bytes.
const maxBodyBytes = 1 << 20

// maxDrainBytes is how much of a larger body is read and discarded.
const maxDrainBytes = 64 << 20

// Options configures a sandbox. The zero value is an open world without faults that accepts any
// key.
type Options struct {
	// APIKey is the only key accepted (chapter 5); "" accepts any text.
	APIKey string
	// World is what the platform knows; nil is an open world, in which every UUID is known and
	// every wallet linked.
	World *World
	// NotContracted lists modules whose routes answer 403, see [Server.SetNotContracted].
	NotContracted []Module
	// Log receives one JSON line per request ([Line]), written before the answer. A failed write
	// closes the connection instead of answering, see [Server.LogErr]. The sandbox serialises its
	// writes.
	Log io.Writer
	// Faults act on matching requests; if several match, the first acts. See [ParseFault].
	Faults []Disturbance
	// Events lists the faults that act on events; the first that matches acts.
	Events []EventFault
	// ShowTimes adds created_at to the retrieval and the events of order commitments. The document
	// does not state whether the platform does.
	ShowTimes bool
	// Seed decides faults with a percentage; 0 draws a seed, see [Server.Seed].
	Seed int64
	// Latency is the delay between execution and answer of every request.
	Latency time.Duration
	// Now is the clock of records, log and error bodies; nil is the system clock. Delays always
	// take real time.
	Now func() time.Time

	// Intercept, if set, is called before Faults for every request on a known path; if it returns
	// nil, Faults apply. n is the number of the creating POST, or of the GET, from 1; it is 0 for
	// other requests. The hook may read the body. It is called concurrently.
	Intercept func(r *http.Request, n int) *Disturbance
	// OnPost, if set, is called when the n-th creating POST has arrived whole, before anything is
	// executed. It may block: the POST then stays in flight until it returns. It must return before
	// [Running.Close] is called. It is called concurrently.
	OnPost func(n int)
	// OnExecuted, if set, is called after the n-th POST was executed and logged, before its answer.
	// It may block like OnPost.
	OnExecuted func(n int, record Record)
	// OnDelivered, if set, is called when a webhook's receiver has answered, or has not answered in
	// time. It is called concurrently and must not block.
	OnDelivered func(d Delivery)
	// ReceiverLimit is how long a receiver may take to answer; 0 means the document's 30 s (chapter
	// 8).
	ReceiverLimit time.Duration
	// ReceiverRoots are the root certificates for receivers; nil means the system's.
	ReceiverRoots *x509.CertPool
}

// Server is the sandbox as an http.Handler. Its methods may be called at any time from any
// goroutine.
type Server struct {
	*World // what the platform knows; may change at any time
	opts   Options
	seed   int64
	routes []route

	began time.Time

	stopping context.Context // when done, every delay ends at once
	stop     context.CancelFunc

	receivers *http.Client
	slots     chan struct{}   // one slot for each delivery in flight
	cutting   context.Context // when done, deliveries end at once
	cut       context.CancelFunc
	sending   sync.WaitGroup // deliveries in flight
	inFlight  atomic.Int64   // requests that are being handled

	mu         sync.Mutex // guards the fields below; never held during a hook, a write or a delay
	key        string
	faults     []Disturbance
	missing    []Module // not contracted
	records    []Record
	byID       map[recordKey]values
	webhooks   []Webhook
	deliveries ring[*Delivery]
	noEvents   bool // no more events are sent

	eventFaults  []EventFault
	eventNumbers map[string]int       // number of events, by name; "" counts all
	nextEvent    chan struct{}        // closed when the next event is sent
	typed        map[string]time.Time // creation times of order commitments that were typed by hand
	seen         ring[Request]
	remarked     map[Remark]int // number of requests with each remark
	counts       map[string]int
	numbers      map[string]int // number of requests, by scope

	truth truthLog
}

var _ http.Handler = (*Server)(nil)

// New returns a sandbox. Serve it with [Start], or mount it as a handler of a net/http server
// (HTTP/1.1: faults need [http.Hijacker]; without it, the request is aborted instead).
func New(opts Options) *Server {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Seed == 0 {
		opts.Seed = int64(rand.Uint64()>>1) | 1 // never 0, which means "draw one"
	}
	if opts.World == nil {
		opts.World = OpenWorld()
	}
	if opts.ReceiverLimit == 0 {
		opts.ReceiverLimit = receiverLimit
	}
	s := &Server{
		opts: opts, World: opts.World, seed: opts.Seed, began: opts.Now(),
		// It follows no redirect, because a receiver must answer 200 itself. It keeps no connection, so that
		// nothing outlives the sandbox.
		receivers: &http.Client{
			Timeout: opts.ReceiverLimit,
			Transport: &http.Transport{
				DisableKeepAlives: true, Proxy: http.ProxyFromEnvironment,
				TLSClientConfig: &tls.Config{RootCAs: opts.ReceiverRoots, MinVersion: tls.VersionTLS12},
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		slots: make(chan struct{}, maxDelivering),
		key:   opts.APIKey, faults: slices.Clone(opts.Faults), missing: slices.Clone(opts.NotContracted),
		byID: map[recordKey]values{}, remarked: map[Remark]int{}, counts: map[string]int{}, numbers: map[string]int{},
		eventFaults: slices.Clone(opts.Events), eventNumbers: map[string]int{}, nextEvent: make(chan struct{}),
		typed: map[string]time.Time{},
		truth: truthLog{w: opts.Log},
	}
	s.routes = s.table()
	s.stopping, s.stop = context.WithCancel(context.Background())
	s.cutting, s.cut = context.WithCancel(context.Background())
	return s
}

// Close ends all delays at once: a slow answer is sent, a late execution happens, a hanging
// connection is closed. [Running.Close] calls it.
func (s *Server) Close() { s.stop() }

// Seed returns the seed in use. Print it: the same seed reproduces the same faults.
func (s *Server) Seed() int64 { return s.seed }

// LogErr returns the first error of writing the truth log, or nil. A test that relies on it must
// check it.
func (s *Server) LogErr() error {
	s.truth.mu.Lock()
	defer s.truth.mu.Unlock()
	return s.truth.err
}

// SetAPIKey changes the accepted key from now on, as a renewal does.
func (s *Server) SetAPIKey(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = key
}

// SetFaults replaces the faults from now on; without arguments there are none. The numbering of
// requests continues.
func (s *Server) SetFaults(faults ...Disturbance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = slices.Clone(faults)
}

// Faults returns the current faults, in order of precedence.
func (s *Server) Faults() []Disturbance {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.faults)
}

// Requests returns the number of all requests that reached the sandbox, including cut and refused
// ones, but not those below /_sandbox/.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	total := 0
	for _, n := range s.counts {
		total += n
	}
	return total
}

// Counts returns the number of requests by method and path, such as "POST
// /api/v1/integration/order-commitments". Path parameters appear as their names in braces; a path
// that is not of the API appears as received.
func (s *Server) Counts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.counts)
}

// ServeHTTP handles a request in this order: read it completely, number it, choose its fault,
// execute or refuse it, log it, answer it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.inFlight.Add(1)
	defer s.inFlight.Add(-1)
	if r.URL.Path == inspectPrefix || strings.HasPrefix(r.URL.Path, inspectPrefix+"/") {
		a := s.inspected(r)
		if len(a.body) > 0 {
			a.body = append(a.body, '\n') // for the terminal that curl writes to
		}
		a.header.Set("Cache-Control", "no-store")
		a.header.Set("X-Content-Type-Options", "nosniff")
		send(w, a)
		return
	}

	rq, err := s.receive(w, r)
	if err != nil {
		s.remember(rq, nil, 0, noteCut)
		_ = s.log(rq, nil, 0, noteCut)
		loseConnection(w, false)
		return
	}
	fault := s.faultFor(rq)
	if rq.create && s.opts.OnPost != nil {
		s.opts.OnPost(rq.n)
	}

	if fault.Late > 0 {
		s.wait(context.Background(), fault.Late) // like a queue, it does not notice that the client has gone
	}
	a := &answer{}
	if fault.executes() {
		a = s.answer(rq)
		if fault.Do == Twice && len(rq.records) > 0 {
			s.answer(rq)
		}
	}
	a = s.applyFault(rq, a, fault)

	// The outcome is final from here on; it is written before a client can learn anything.
	status := a.status
	if fault.Do == Lose || fault.Do == Garbage || fault.Do == Hang {
		status = 0
	}
	s.remember(rq, fault, status, "")
	if err := s.log(rq, fault, status, ""); err != nil {
		loseConnection(w, false)
		return
	}
	// Of the resources created here, only order commitments have an event. It is sent whatever happens to
	// the answer, because the record exists.
	var waits []func()
	for _, rec := range rq.records {
		if rec.Resource == ResourceOrderCommitments {
			if v, ok := s.find(rec.Resource, rec.ID); ok {
				_, wait := s.emitFirst(eventCreateCommitment, s.shownCommitment(rec.ID, v))
				waits = append(waits, wait)
			}
		}
	}
	for _, wait := range waits { // for the deliveries that must precede the answer
		wait()
	}
	if s.opts.OnExecuted != nil {
		for _, rec := range rq.records {
			s.opts.OnExecuted(rq.n, rec.clone())
		}
	}
	s.wait(r.Context(), s.opts.Latency+fault.Slow)
	if fault.Do == Hang {
		ctx := r.Context()
		select {
		case <-ctx.Done():
		case <-s.stopping.Done():
		}
	}
	switch fault.Do {
	case Lose, Hang:
		loseConnection(w, fault.Reset)
	case Garbage:
		writeRaw(w, []byte("\x16\x03\x01 this is not HTTP\r\n\r\n"), fault.Reset)
	case Cut:
		var b bytes.Buffer
		_, _ = fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\nContent-Length: %d\r\n", a.status, http.StatusText(a.status), len(a.body))
		_ = a.header.Write(&b)
		b.WriteString("\r\n")
		b.Write(a.body[:len(a.body)/2])
		writeRaw(w, b.Bytes(), fault.Reset)
	case Pass, Reply, Again, Twice, Garble:
		send(w, a)
	}
}

// wait returns after d, or earlier if ctx ends or the sandbox closes.
func (s *Server) wait(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
	case <-s.stopping.Done():
	}
}

// quiet waits until no request is being handled. net/http's own shutdown does not know of requests
// on hijacked connections, so the sandbox counts them itself.
func (s *Server) quiet(limit time.Duration) error {
	for ends := time.Now().Add(limit); ; time.Sleep(time.Millisecond) {
		held := s.inFlight.Load()
		if held > 0 && time.Now().After(ends) {
			return phrase.Errorf(
				"%d requests are still held after %s: let OnPost and OnExecuted return before closing the sandbox", held,
				limit)
		}
		if held == 0 {
			return nil
		}
	}
}
