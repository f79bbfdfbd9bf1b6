package console

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/internal/connlimit"
	"github.com/safrasync/safrasync/internal/phrase"
)

// Server serves consoles at one address. Each reading of the configuration builds another console;
// browsers do not notice the change.
type Server struct {
	log     *zap.Logger
	server  *http.Server
	current atomic.Pointer[Console]
	done    chan struct{}
}

// Listen opens an address.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, phrase.Errorf("console.listen: %w; is another program on that port?", err)
	}
	return listener, nil
}

// Serve answers on a listener until Close, with TLS if there is a configuration of it. Show sets the
// console that answers.
func Serve(listener net.Listener, secure *tls.Config, log *zap.Logger) *Server {
	s := &Server{log: log, done: make(chan struct{})}
	listener = &connlimit.Listener{
		Listener: listener, Most: connsMost, Each: eachMost,
		Shared: func(address netip.Addr) bool {
			c := s.current.Load()
			return c != nil && c.Behind.IsValid() && c.Behind.Contains(address)
		},
		OnRefused: func() {
			if c := s.current.Load(); c != nil && c.Site.Refused != nil {
				c.Site.Refused("connection", nil)
			}
		},
	}
	if secure != nil {
		listener = tls.NewListener(listener, secure)
	}
	broken, err := zap.NewStdLogAt(log, zap.DebugLevel) // broken handshakes of strangers must not fill the log
	if err != nil {
		broken = zap.NewStdLog(log)
	}
	s.server = &http.Server{
		Handler: s, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: time.Minute,
		IdleTimeout: time.Minute, MaxHeaderBytes: headerMost,
		ErrorLog: broken, ConnContext: connlimit.Context, DisableGeneralOptionsHandler: true,
	}
	go func() {
		defer close(s.done)
		if err := s.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("the console is no longer served", zap.Error(err))
		}
	}()
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
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	if c := s.current.Load(); c != nil {
		c.end() // ends streams
	}
	if err := s.server.Shutdown(ctx); err != nil {
		_ = s.server.Close()
	}
	<-s.done
	if c := s.current.Load(); c != nil {
		c.Close()
	}
}

// closeWithin is how long a browser may take to read its answer after the service ends or reloads
// its configuration.
const closeWithin = 5 * time.Second
