package receiver

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
)

// Who opens more connections than there are, and says nothing in them, keeps no other sender
// out.
func TestSilentConnectionsOfOneAddressLeaveRoomForOthers(t *testing.T) {
	t.Parallel()
	pair := httptest.NewTLSServer(nil)
	roots := x509.NewCertPool()
	roots.AddCert(pair.Certificate())
	pair.Close()
	w := newWorld(t, func(o *Setup) {
		o.TLS = &tls.Config{Certificates: pair.TLS.Certificates, MinVersion: tls.VersionTLS12}
	})
	w.url = strings.Replace(w.url, "http://", "https://", 1)
	w.trust = &tls.Config{RootCAs: roots, ServerName: "example.com", MinVersion: tls.VersionTLS12}
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	for range maxConns + 100 {
		conn := must.Get(from.DialContext(t.Context(), "tcp", w.server.Address()))(t)
		defer func() { _ = conn.Close() }()
	}
	for i := range 5 {
		w.want("another sender beside the flood", w.post(strings.NewReader(fmt.Sprint(i))), 200)
	}
	if w.times("connection") == 0 {
		t.Error("no connection of the flood was closed")
	}
	w.stored(5)
}

// However many wrong logins come from a network, the right one is taken: credentials are looked at
// before anything is counted.
func TestWrongLoginsKeepTheRightOneOutNever(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 200 {
		w.want("a guess", w.post(nil, func(r *http.Request) { r.SetBasicAuth("a", "b") }), http.StatusUnauthorized)
	}
	w.want("the right login, from where the guesses come", w.post(strings.NewReader("{}")), 200)
	w.stored(1)
}
