package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

// maxBodyBytes is the largest body read. The document sets no limit; a creation is about 700 bytes.
const maxBodyBytes = 1 << 20

// maxDrainBytes is how much of a larger body is read and thrown away.
const maxDrainBytes = 64 << 20

// Options says how the sandbox behaves. The zero value is an open world without faults that accepts any key.
type Options struct {
	// APIKey is the only key accepted (chapter 5); "" accepts any text without blanks.
	APIKey string
	// World is what the platform knows; nil is an open world, in which every UUID is known and every wallet linked.
	World *World
	// Log receives one JSON line per request ([Line]), written before the answer. A failed write closes the connection instead of
	// answering, see [Server.LogErr]. The sandbox serialises its writes.
	Log io.Writer
	// Faults act on matching requests; of several the first that matches. See [ParseFault].
	Faults []Fault
	// Seed decides faults with a percentage; 0 draws one, see [Server.Seed].
	Seed int64
	// Latency passes between execution and answer of every request.
	Latency time.Duration
	// Now is the clock of records, log and error bodies; nil is the system's. Delays always take real time.
	Now func() time.Time

	// Intercept, if set, is asked before Faults for every request on a known path; nil leaves the request to Faults. n counts creating
	// POSTs, or GETs, from 1; it is 0 for other requests. The body can be read. Called concurrently.
	Intercept func(r *http.Request, n int) *Fault
	// OnPost, if set, is called when the n-th creating POST has arrived whole, before anything is executed. It may block: the POST then
	// stays on the wire until it returns. Let it return before [Running.Close]. Called concurrently.
	OnPost func(n int)
	// OnExecuted, if set, is called after the n-th POST was executed and logged, before its answer. It may block like OnPost.
	OnExecuted func(n int, record Record)
}

// Record is one executed creation.
type Record struct {
	// N is the number of the creating POST, from 1.
	N int
	// ID is the id given out, a UUID in lower case.
	ID string
	// Resource is "order_commitments".
	Resource string
	// At is the time of execution, by [Options.Now].
	At time.Time
	// Header is the header of the request without Authorization.
	Header http.Header
	// Body is the body as it arrived, byte for byte.
	Body json.RawMessage
	// Fields is the decoded body: string, or json.Number with the digits as sent.
	Fields map[string]any
}

// Server is the sandbox as an http.Handler. Its methods may be called at any time from any goroutine.
type Server struct {
	opts   Options
	world  *World
	seed   int64
	routes []route

	stopping context.Context // done: every delay ends at once
	stop     context.CancelFunc

	mu       sync.Mutex // guards what follows; never held during a hook, a write or a delay
	key      string
	faults   []Fault
	records  []Record
	byID     map[string]values
	counts   map[string]int
	posts    int
	gets     int
	inFlight int
	idle     chan struct{} // made by quiet, closed when inFlight falls to 0

	truth truthLog
}

var _ http.Handler = (*Server)(nil)

// New builds a sandbox. Serve it with [Start], or mount it as a handler of a net/http server (HTTP/1.1: faults need [http.Hijacker]; where
// that is missing the request is aborted instead).
func New(opts Options) *Server {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Seed == 0 {
		opts.Seed = drawSeed()
	}
	if opts.World == nil {
		opts.World = OpenWorld()
	}
	s := &Server{
		opts: opts, world: opts.World, seed: opts.Seed,
		key: opts.APIKey, faults: slices.Clone(opts.Faults),
		byID: map[string]values{}, counts: map[string]int{},
		truth: truthLog{w: opts.Log},
	}
	s.routes = s.allRoutes()
	s.stopping, s.stop = context.WithCancel(context.Background())
	return s
}

// Close ends all delays at once: a slow answer goes out, a late execution happens now. [Running.Close] calls it.
func (s *Server) Close() { s.stop() }

// Seed is the seed in use. Print it: the same seed gives the same faults.
func (s *Server) Seed() int64 { return s.seed }

// LogErr is the first error of writing the truth log, nil if there is none. A test that trusts the log must look at it.
func (s *Server) LogErr() error { return s.truth.firstErr() }

// SetAPIKey changes the key accepted from now on, as a renewed key does.
func (s *Server) SetAPIKey(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = key
}

// SetFaults replaces the faults from now on; without arguments the platform is well again. Numbering goes on.
func (s *Server) SetFaults(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = slices.Clone(faults)
}

// Created is every order commitment executed, in order. The slice and what it holds are the caller's.
func (s *Server) Created() []Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Record, len(s.records))
	for i, r := range s.records {
		out[i] = r.clone()
	}
	return out
}

// Requests is the number of all requests that reached the sandbox, also cut and refused ones.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	total := 0
	for _, n := range s.counts {
		total += n
	}
	return total
}

// Counts is the number of requests by method and path, such as "POST /api/v1/integration/order-commitments". Path parameters stand by their
// names, in braces; a path that is not of the API stands as it came.
func (s *Server) Counts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.counts)
}

func (r Record) clone() Record {
	r.Header = r.Header.Clone()
	r.Body = slices.Clone(r.Body)
	r.Fields = maps.Clone(r.Fields)
	return r
}

// ServeHTTP is the walk of a request: arrive whole, be numbered, meet its fault, be executed or refused, be logged, be answered.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.enter()
	defer s.leave()

	rq, err := s.receive(w, r)
	if err != nil {
		_ = s.log(rq, nil, 0, "the request did not arrive whole")
		loseConnection(w, false)
		return
	}
	fault := s.faultFor(rq)
	if rq.create && s.opts.OnPost != nil {
		s.opts.OnPost(rq.n)
	}

	if fault.Late > 0 {
		s.wait(context.Background(), fault.Late) // a queue does not know that the client has gone
	}
	a := answer{}
	if fault.executes() {
		a = s.answer(rq)
		if fault.Do == Twice && len(rq.records) > 0 {
			s.answer(rq)
		}
	}
	a, fault = s.bend(rq, a, fault)

	// From here on the truth is fixed; it is written before a client can learn anything.
	status := a.status
	if fault.Do == Lose || fault.Do == Garbage {
		status = 0
	}
	if err := s.log(rq, fault, status, ""); err != nil {
		loseConnection(w, false)
		return
	}
	if s.opts.OnExecuted != nil {
		for _, rec := range rq.records {
			s.opts.OnExecuted(rq.n, rec.clone())
		}
	}
	s.wait(r.Context(), s.opts.Latency+fault.Slow)
	transmit(w, a, fault)
}

// wait lets d pass, or less when ctx ends or the sandbox closes.
func (s *Server) wait(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-s.stopping.Done():
	}
}

func (s *Server) enter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight++
}

func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight--
	if s.inFlight == 0 && s.idle != nil {
		close(s.idle)
		s.idle = nil
	}
}

// quiet waits until no request is in work. Requests on hijacked connections are unknown to net/http's own shutdown, so we count ourselves.
func (s *Server) quiet(limit time.Duration) error {
	s.mu.Lock()
	n := s.inFlight
	if n == 0 {
		s.mu.Unlock()
		return nil
	}
	if s.idle == nil {
		s.idle = make(chan struct{})
	}
	idle := s.idle
	s.mu.Unlock()

	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-idle:
		return nil
	case <-timer.C:
		return fmt.Errorf("%d requests are still held after %s: let OnPost and OnExecuted return before closing the sandbox", n, limit)
	}
}
