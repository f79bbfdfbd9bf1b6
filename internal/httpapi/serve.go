package httpapi

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/safrasync/safrasync/internal/connlimit"
)

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
