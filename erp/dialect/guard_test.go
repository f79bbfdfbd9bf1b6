package dialect

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"github.com/safrasync/safrasync/erp/fault"
	"github.com/safrasync/safrasync/internal/must"
)

// lib/pq continues reading after its context has ended; only a deadline on the connection stops it.
// The server here sends one byte and then nothing.
func TestASilentConnectionEndsByItself(t *testing.T) {
	t.Parallel()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = l.Close() })
	accepted := make(chan net.Conn, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = c.Write([]byte("x"))
		accepted <- c
	}()
	d := NewGuardDialer(time.Minute)
	d.silence = 50 * time.Millisecond
	c, err := d.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	peer := <-accepted
	t.Cleanup(func() { _ = peer.Close() })

	buf := make([]byte, 1)
	must.Get(c.Read(buf))(t)
	_, err = c.Read(buf)
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("reading from a silent server: %v, want a deadline", err)
	}
	s := Server{Target: "erp:5432/coop"}
	if got := fault.CodeOf(s.NoAnswer(err)); got != fault.CodeUnreachable {
		t.Errorf("it is called %s, want %s", got, fault.CodeUnreachable)
	}

	// A read does not extend lib/pq's own deadline for the start-up.
	guarded := c.(*guardedConn)
	guarded.silence = time.Hour
	must.Do(t, c.SetDeadline(time.Now().Add(-time.Second)))
	if _, err := c.Read(buf); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the earlier deadline was forgotten: %v", err)
	}
}

func TestAnUntrustedCertificateIsCalledThat(t *testing.T) {
	t.Parallel()
	s := Server{Target: "erp:5432/coop"}
	for _, err := range []error{
		x509.UnknownAuthorityError{},
		fmt.Errorf("tls: %w", x509.HostnameError{Certificate: &x509.Certificate{}, Host: "erp"}),
	} {
		if got := fault.CodeOf(s.NoAnswer(err)); got != fault.CodeTLS {
			t.Errorf("%T is called %s, want %s", err, got, fault.CodeTLS)
		}
	}
}
