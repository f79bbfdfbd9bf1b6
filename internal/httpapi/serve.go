package httpapi

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

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
	server  *http.Server
	current atomic.Pointer[API]
	done    chan struct{}
}

// Listen opens an address.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("http_api.listen: %w; is another program on that port?", err)
	}
	return listener, nil
}

// Serve answers at a listener until Close, over TLS if secure is not nil.
func Serve(listener net.Listener, secure *tls.Config, api *API) *Listener {
	s := &Listener{done: make(chan struct{})}
	s.current.Store(api)
	listener = &connlimit.Listener{
		Listener: listener, Most: connsMost, Each: connsEach,
		OnRefused: func() { s.current.Load().refused("connection") },
	}
	if secure != nil {
		listener = tls.NewListener(listener, secure)
	}
	broken, err := zap.NewStdLogAt(api.Log, zap.DebugLevel) // strangers must not fill the log with broken handshakes
	if err != nil {
		broken = zap.NewStdLog(api.Log)
	}
	s.server = &http.Server{
		Handler: s, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute,
		IdleTimeout: time.Minute, MaxHeaderBytes: 8 << 10, ErrorLog: broken, ConnContext: connlimit.Context,
		DisableGeneralOptionsHandler: true,
	}
	go func() {
		defer close(s.done)
		if err := s.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			api.Log.Error("http_api is no longer served", zap.Error(err))
		}
	}()
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
func (s *Listener) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	if err := s.server.Shutdown(ctx); err != nil {
		_ = s.server.Close()
	}
	<-s.done
}
