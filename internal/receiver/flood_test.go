package receiver

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/connlimit"
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
	w := newWorld(t, func(o *Options) {
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
	if counts := w.server.Counts(); counts.Overfull == 0 {
		t.Errorf("%+v: no connection of the flood was closed", counts)
	}
	w.stored(5)
}

// Addresses that a host makes up within its own network share one budget, and the right
// credentials need none.
func TestMadeUpAddressesShareABudgetAndTheRightLoginNeedsNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	from := func(address string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("X-Forwarded-For", address) }
	}
	refused := 0
	for i := range 100 {
		guess := func(r *http.Request) { r.SetBasicAuth("a", "b") }
		if w.post(nil, from(fmt.Sprintf("2001:db8::%x", i+1)), guess) == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused == 0 {
		t.Error("a hundred guesses from made-up addresses of one network were all looked at")
	}
	w.want("the right login, from the network that guesses", w.post(strings.NewReader("{}"), from("2001:db8::1")), 200)
	b, now := newBudgets(), time.Now()
	one := b.of(connlimit.Sender(netip.MustParseAddr("2001:db8::1")).String(), now)
	if other := b.of(connlimit.Sender(netip.MustParseAddr("2001:db8::2")).String(), now); other != one {
		t.Error("two addresses of one network have two budgets")
	}
}
