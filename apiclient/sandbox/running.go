package sandbox

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
)

// closeGrace is how long [Running.Close] waits for requests that are being handled before it closes
// their connections.
const closeGrace = 5 * time.Second

// Running is a sandbox on a real listener. It embeds the [Server].
type Running struct {
	*Server
	// URL is the base address without a trailing slash, such as "http://127.0.0.1:40123".
	URL string

	http   *http.Server
	served chan error
	grace  time.Duration // closeGrace; shorter in a test

	closed func() error // closes it once

	mu      sync.Mutex // guards fresh and closing
	fresh   map[net.Conn]struct{}
	closing bool
}

// Start serves a sandbox on addr; "127.0.0.1:0" chooses a free port. Only loopback addresses are
// accepted, because anyone who can reach the sandbox can use it.
func Start(opts Options, addr string) (*Running, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, phrase.Errorf("sandbox address %q: want HOST:PORT, as in 127.0.0.1:0: %w", addr, err)
	}
	if !isLoopback(host) {
		return nil, phrase.Errorf("sandbox address %q: want a loopback address, as in 127.0.0.1:0", addr)
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, phrase.Errorf("sandbox: listen on %s: %w", addr, err)
	}
	r := &Running{
		Server: New(opts),
		URL:    "http://" + listener.Addr().String(),
		served: make(chan error, 1),
		grace:  closeGrace,
		fresh:  map[net.Conn]struct{}{},
	}
	r.closed = sync.OnceValue(r.close)
	r.http = &http.Server{
		Handler:                      r.Server,
		ReadHeaderTimeout:            10 * time.Second,
		ConnState:                    r.track,
		DisableGeneralOptionsHandler: true, // OPTIONS * is refused like every other unknown path
	}
	go func() { r.served <- r.http.Serve(listener) }()
	return r, nil
}

// track records connections that have not sent anything yet. Shutdown would wait seconds for them,
// although no request is being handled.
func (r *Running) track(c net.Conn, state http.ConnState) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case state != http.StateNew:
		delete(r.fresh, c)
	case r.closing:
		_ = c.Close()
	default:
		r.fresh[c] = struct{}{}
	}
}

// Close stops listening, ends all delays, and waits for the requests being handled and then for the
// deliveries of events (up to 5 s each, then it cuts their connections). It returns when nothing of
// the sandbox is running any more. Further calls return the same result.
func (r *Running) Close() error { return r.closed() }

func (r *Running) close() error {
	r.Server.Close()
	r.mu.Lock()
	r.closing = true
	for c := range r.fresh {
		_ = c.Close()
	}
	r.mu.Unlock()

	ctx, cancel := context.WithTimeout(context.Background(), r.grace)
	defer cancel()
	if err := r.http.Shutdown(ctx); err != nil {
		_ = r.http.Close()
	}
	held := r.quiet(r.grace)
	// No event is sent afterwards.
	r.Server.mu.Lock()
	r.noEvents = true
	r.Server.mu.Unlock()
	stop := time.AfterFunc(r.grace, r.cut)
	r.sending.Wait()
	stop.Stop()
	r.cut()
	if err := <-r.served; !errors.Is(err, http.ErrServerClosed) {
		return errors.Join(held, phrase.Errorf("sandbox: serve: %w", err))
	}
	return held
}
