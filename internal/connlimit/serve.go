package connlimit

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
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
