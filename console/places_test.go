package console_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/console"
	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/state"
)

// D1: browsers that send their form slowly, or do not read their answers, hold no place that
// another one needs.
func TestD1SlowStrangersKeepNobodyOut(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite)).WithPeople()
	address := strings.TrimPrefix(w.Server.URL, "http://")
	dial := func() net.Conn {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	for range console.AtOnce {
		slow := dial()
		if _, err := fmt.Fprintf(slow,
			"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(slow, make([]byte, len("HTTP/1.1 100 Continue"))); err != nil { // it is at its form
			t.Fatal(err)
		}
	}
	w.Browser().Get("/login").Wants(http.StatusOK)
	for range console.AtOnce {
		deaf := dial()
		for { // until the server does not read on, because nobody reads what it writes
			if err := deaf.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(deaf,
				strings.Repeat("GET /licences HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 100)); errors.Is(err,
				os.ErrDeadlineExceeded) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	w.Browser().Get("/login").Wants(http.StatusOK)
}

// D1: one address cannot take all connections.
func TestD1OneAddressLeavesConnectionsForOthers(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite)).WithPeople()
	listener, err := console.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := console.Serve(listener, nil, zap.NewNop())
	t.Cleanup(server.Close)
	server.Show(w.Console, nil)
	for range 1100 { // far more than one address may have
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	transport := &http.Transport{DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0,
		2)}}).DialContext}
	t.Cleanup(transport.CloseIdleConnections)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+listener.Addr().String()+"/login",
		http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("another address is answered %d", answer.StatusCode)
	}
}

func TestD9AClosingConsoleDoesNotWaitForASlowReader(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite)).WithPeople() // a server without any limit of time
	deaf, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(w.Server.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	for { // until the server does not read on, because nobody reads what it writes
		if err := deaf.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		_, err := io.WriteString(deaf,
			strings.Repeat("GET /static/x/vendor/pico-2.1.1.min.css HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 100))
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	w.Console.Close() // it ends
}
