package console_test

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/console"
	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// served serves a world's console with all limits of time, and returns its address.
func served(t *testing.T, w *consoletest.World) string {
	t.Helper()
	listener := must.Get((&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	server := console.Serve(listener, nil, zap.NewNop())
	t.Cleanup(server.Close)
	server.Show(w.Console)
	address := listener.Addr().String()
	w.Server.URL = "http://" + address
	return address
}

// shorter is less than a slow request may take, so that nobody is served because one has ended.
const shorter = 12 * time.Second

// Whatever somebody sends to whatever route, another person is served.
func TestWhateverIsSentAnotherPersonIsServed(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite)).WithPeople()
	address := served(t, w)
	reader, other := w.As(trade.Reader), w.As(trade.Accountant)
	other.Client.Timeout = shorter
	cookie := "Cookie: "
	for _, c := range reader.Client.Jar.Cookies(must.Get(url.Parse(w.Server.URL))(t)) {
		cookie += c.Name + "=" + c.Value + "; "
	}
	nobody := w.Browser()
	nobody.Client.Timeout = shorter
	s := consoletest.NewStranger(t, 2, address)
	for _, r := range w.Console.Routes() {
		path := pathOf(r.Path)
		for _, method := range consoletest.Methods {
			times := 2*console.AtOnce + 2
			if !slices.Contains([]string{"GET", "HEAD", "POST"}, method) { // no route has these
				times = 2
			}
			for i := range times {
				who := []string{"", cookie + "\r\n"}[i%2]
				body := consoletest.SlowBodies[i/2%len(consoletest.SlowBodies)]
				s.Send(method + " " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + who + body)
			}
			if method != "GET" && method != "POST" {
				continue
			}
			for _, text := range consoletest.OddRequests(method, path) {
				s.Send(text)
			}
		}
		other.Get("/").Wants(http.StatusOK)
		nobody.Get("/login").Wants(http.StatusOK)
		s.Leave()
	}
}

// A search has so many letters and words, on every page that has one; a person has so many places.
func TestASearchIsBounded(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite)).WithPeople()
	b := w.As(trade.Reader)
	for _, at := range []string{"/rows?q=", "/search?q=", "/references?text="} {
		for text, status := range map[string]int{
			"a+b+c+d+e+f+g+h+i+j+k": http.StatusBadRequest, strings.Repeat("x", 201): http.StatusBadRequest,
			strings.Repeat("a+", 100): 0, strings.Repeat("%C3%A7", 200): 0,
		} {
			b.Get(at + text)
			if status == http.StatusBadRequest {
				b.Wants(status, "200 letras e 10 palavras")
			} else if b.Status >= http.StatusBadRequest {
				t.Errorf("%s%s: %d", at, text, b.Status)
			}
		}
	}
}
