package connlimit

import (
	"io"
	"net"
	"net/http"
	"testing"
)

func TestSixHundredHalfOpenSocketsOfOneAddressKeepNobodyElseOut(t *testing.T) {
	t.Parallel()
	inner, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	bounded := &Listener{Listener: inner, Most: 512, Each: 64}
	server := &http.Server{Handler: http.NotFoundHandler()}
	go func() { _ = server.Serve(bounded) }()
	t.Cleanup(func() { _ = server.Close() })
	stranger := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	for range 600 {
		conn, err := stranger.DialContext(t.Context(), "tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nContent-Le") // most are refused
	}
	answer, err := http.Get("http://" + inner.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if n := bounded.Refused.Load(); n != 600-64 {
		t.Errorf("%d of 600 are refused", n)
	}
}
