package console_test

import (
	"io"
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
	listener := must.Get(console.Listen(t.Context(), "127.0.0.1:0"))(t)
	server := console.Serve(listener, nil, zap.NewNop())
	t.Cleanup(server.Close)
	server.Show(w.Console, nil)
	address := listener.Addr().String()
	w.Server.URL = "http://" + address
	return address
}

// shorter is less than a slow request may take, so that nobody is served because one has ended.
const shorter = 12 * time.Second

// stranger opens connections from an address, and keeps them open until leave.
type stranger struct {
	t    *testing.T
	from net.Dialer
	to   string
	open []net.Conn
}

func newStranger(t *testing.T, host byte, to string) *stranger {
	s := &stranger{t: t, to: to, from: net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, host)}}}
	t.Cleanup(s.leave)
	return s
}

// send opens a connection and writes a text, as much of it as the other side takes.
func (s *stranger) send(text string) {
	s.t.Helper()
	conn := must.Get(s.from.DialContext(s.t.Context(), "tcp", s.to))(s.t)
	s.open = append(s.open, conn)
	must.Do(s.t, conn.SetWriteDeadline(time.Now().Add(time.Second)))
	_, _ = io.WriteString(conn, text)
}

func (s *stranger) leave() {
	for _, conn := range s.open {
		_ = conn.Close()
	}
	s.open = nil
}

var everyMethod = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"}

// slowBodies are beginnings of bodies, with their headers, that never go on.
var slowBodies = []string{
	"Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 60000\r\n\r\n--x\r\n",
	"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 60000\r\n\r\nname=",
	"Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nna",
}

// oddRequests are large or malformed, or many in one connection.
func oddRequests(method, path string) []string {
	line, host := method+" "+path+" HTTP/1.1\r\n", "Host: 127.0.0.1\r\n"
	form := host + "Content-Type: multipart/form-data; boundary=x\r\n"
	return []string{
		line + form + "Content-Length: 10000000\r\n\r\n" + strings.Repeat("x", 100<<10),
		line + form + "Content-Length: 5000\r\n\r\n--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n",
		line + form + "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
		line + form + "Content-Length: -1\r\n\r\n",
		line + form + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
		line + form + "Expect: 100-continue\r\nContent-Length: 60000\r\n\r\n",
		line + host + strings.Repeat("X-Long: "+strings.Repeat("x", 1000)+"\r\n", 60),
		line + host + "X-Slow: ",
		method + " " + path + "?q=%00%ff%zz&after=" + strings.Repeat("9", 20000) + " HTTP/1.1\r\n" + host + "\r\n",
		method + " " + path + "/../\x00 HTTP/9.9\r\n\r\n",
		strings.Repeat(line+host+"\r\n", 30),
	}
}

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
	s := newStranger(t, 2, address)
	for _, r := range w.Console.Routes() {
		path := pathOf(r.Path)
		for _, method := range everyMethod {
			times := 2*console.AtOnce + 2
			if !slices.Contains([]string{"GET", "HEAD", "POST"}, method) { // no route has these
				times = 2
			}
			for i := range times {
				who := []string{"", cookie + "\r\n"}[i%2]
				s.send(method + " " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + who + slowBodies[i/2%len(slowBodies)])
			}
			if method != "GET" && method != "POST" {
				continue
			}
			for _, text := range oddRequests(method, path) {
				s.send(text)
			}
		}
		other.Get("/").Wants(http.StatusOK)
		nobody.Get("/login").Wants(http.StatusOK)
		s.leave()
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
