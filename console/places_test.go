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
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
)

// Browsers that send their form slowly, or do not read their answers, hold no place that
// another one needs.
func TestSlowStrangersKeepNobodyOut(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite)).WithPeople()
	address := strings.TrimPrefix(w.Server.URL, "http://")
	dial := func() net.Conn {
		conn := must.Get((&net.Dialer{}).DialContext(t.Context(), "tcp", address))(t)
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	for range console.AtOnce {
		slow := dial()
		must.Get(fmt.Fprintf(slow,
			"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n"))(t)
		if _, err := io.ReadFull(slow, make([]byte, len("HTTP/1.1 100 Continue"))); err != nil { // it is at its form
			t.Fatal(err)
		}
	}
	w.Browser().Get("/login").Wants(http.StatusOK)
	for range console.AtOnce {
		deaf := dial()
		for { // until the server does not read on, because nobody reads what it writes
			must.Do(t, deaf.SetWriteDeadline(time.Now().Add(time.Second)))
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

// One address cannot take all connections.
func TestOneAddressLeavesConnectionsForOthers(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite)).WithPeople()
	listener := must.Get((&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	server := console.Serve(listener, nil, zap.NewNop())
	t.Cleanup(server.Close)
	server.Show(w.Console)
	for range 1100 { // far more than one address may have
		conn := must.Get((&net.Dialer{}).DialContext(t.Context(), "tcp", listener.Addr().String()))(t)
		t.Cleanup(func() { _ = conn.Close() })
	}
	transport := &http.Transport{DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0,
		2)}}).DialContext}
	t.Cleanup(transport.CloseIdleConnections)
	address := "http://" + listener.Addr().String() + "/login"
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, address,
		http.NoBody))(t)
	answer := must.Get(transport.RoundTrip(request))(t)
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("another address is answered %d", answer.StatusCode)
	}
}

func TestAClosingConsoleDoesNotWaitForASlowReader(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite)).WithPeople() // a server without any limit of time
	deaf := must.Get((&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(w.Server.URL, "http://")))(t)
	defer deaf.Close()
	for { // until the server does not read on, because nobody reads what it writes
		must.Do(t, deaf.SetWriteDeadline(time.Now().Add(time.Second)))
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
