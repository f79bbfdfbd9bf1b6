package consoletest

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// Methods are methods of requests, which a listener knows or not.
var Methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"}

// SlowBodies are beginnings of bodies, with their headers, that never go on.
var SlowBodies = []string{
	"Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 60000\r\n\r\n--x\r\n",
	"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 60000\r\n\r\nname=",
	"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"",
}

// OddRequests returns requests that are large or malformed, or many in one connection.
func OddRequests(method, path string) []string {
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

// Stranger opens connections from an address of this host, and keeps them until Leave.
type Stranger struct {
	t    *testing.T
	from net.Dialer
	to   string
	open []net.Conn
}

// NewStranger returns a stranger at 127.0.0.host, who connects to an address.
func NewStranger(t *testing.T, host byte, to string) *Stranger {
	t.Helper()
	s := &Stranger{t: t, to: to, from: net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, host)}}}
	t.Cleanup(s.Leave)
	return s
}

// Send opens a connection and writes a text, as much of it as the other side takes.
func (s *Stranger) Send(text string) {
	s.t.Helper()
	conn, err := s.from.DialContext(s.t.Context(), "tcp", s.to)
	if err != nil {
		s.t.Fatal(err)
	}
	s.open = append(s.open, conn)
	if err := conn.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
		s.t.Fatal(err)
	}
	_, _ = io.WriteString(conn, text) // who is refused cannot write
}

// Leave closes the connections.
func (s *Stranger) Leave() {
	for _, conn := range s.open {
		_ = conn.Close()
	}
	s.open = nil
}
