package console

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/internal/connlimit"
)

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
