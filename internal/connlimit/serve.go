package connlimit

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"go.uber.org/zap"
)

// Serving is an address that is served until Close.
type Serving struct {
	http *http.Server
	done chan struct{}
}

// Serve lets a server answer on a listener, over TLS if secure is not nil. The log gets what ends it
// before Close, under the text over.
func Serve(server *http.Server, l *Listener, secure *tls.Config, log *zap.Logger, over string) *Serving {
	server.ReadHeaderTimeout = 5 * time.Second
	server.WriteTimeout, server.IdleTimeout = time.Minute, time.Minute
	server.ConnContext, server.DisableGeneralOptionsHandler = Context, true
	if server.ErrorLog == nil { // broken handshakes of strangers must not fill the log
		server.ErrorLog, _ = zap.NewStdLogAt(log, zap.DebugLevel) // no error at this level
	}
	var listener net.Listener = l
	if secure != nil {
		listener = tls.NewListener(l, secure)
	}
	s := &Serving{http: server, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error(over, zap.Error(err))
		}
	}()
	return s
}

// Close accepts no new connection, gives the answers in progress some time, and returns when the
// server has ended.
func (s *Serving) Close(within time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		_ = s.http.Close()
	}
	<-s.done
}

// logInterval is how often a refusal is told at most: strangers must not fill the log.
const logInterval = time.Minute

// Refusals counts what listeners refuse, each with its cause, and tells of it once a minute at
// most.
type Refusals struct {
	Count func(listener, cause string)
	// Tell gets how often it was refused since it was told before, and the last error, or nil.
	Tell func(listener, cause string, times int, last error)

	mu sync.Mutex
	by map[[2]string]*refusal
}

type refusal struct {
	times int
	told  time.Time
}

// Of returns the function that counts the refusals of a listener.
func (r *Refusals) Of(listener string) func(cause string, err error) {
	return func(cause string, err error) {
		r.Count(listener, cause)
		if times := r.due(listener, cause, time.Now()); times > 0 {
			r.Tell(listener, cause, times, err)
		}
	}
}

// due counts a refusal. It returns how many are to be told now.
func (r *Refusals) due(listener, cause string, now time.Time) (times int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.by == nil {
		r.by = map[[2]string]*refusal{}
	}
	one := r.by[[2]string{listener, cause}]
	if one == nil {
		one = &refusal{}
		r.by[[2]string{listener, cause}] = one
	}
	one.times++
	if !one.told.IsZero() && now.Sub(one.told) < logInterval {
		return 0
	}
	times, one.times, one.told = one.times, 0, now
	return times
}
