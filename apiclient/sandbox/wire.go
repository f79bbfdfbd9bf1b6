package sandbox

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strconv"
)

// transmit puts the answer, or what the fault leaves of it, on the connection.
func transmit(w http.ResponseWriter, a answer, f *Fault) {
	switch f.Do {
	case Lose, Hang:
		loseConnection(w, f.Reset)
	case Garbage:
		takeOver(w, []byte("\x16\x03\x01 this is not HTTP\r\n\r\n"), f.Reset)
	case Cut:
		takeOver(w, halfOf(a), f.Reset)
	case Pass, Reply, Again, Twice, Garble:
		send(w, a)
	}
}

func send(w http.ResponseWriter, a answer) {
	h := w.Header()
	for name, values := range a.header {
		h[name] = values
	}
	if a.header.Get("Content-Type") == "" {
		h["Content-Type"] = nil // or net/http would guess one
	}
	if a.status != http.StatusNoContent && a.status != http.StatusNotModified {
		h.Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // a client that went away is its own business; the truth is logged
}

// halfOf is the whole header, which promises the whole body, and half of the body.
func halfOf(a answer) []byte {
	var b bytes.Buffer
	_, _ = fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\nContent-Length: %d\r\n", a.status, http.StatusText(a.status), len(a.body))
	_ = a.header.Write(&b)
	b.WriteString("\r\n")
	b.Write(a.body[:len(a.body)/2])
	return b.Bytes()
}

// loseConnection closes without a byte. The request was read to its end before, or else the kernel would send a reset of its own.
func loseConnection(w http.ResponseWriter, reset bool) { takeOver(w, nil, reset) }

// takeOver writes raw bytes and closes: with an end of file, or with a reset. Where the connection cannot be had (HTTP/2, a test's
// recorder) the request is aborted, which a client sees as a lost answer too.
func takeOver(w http.ResponseWriter, raw []byte, reset bool) {
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		panic(http.ErrAbortHandler)
	}
	conn, _, err := hijacker.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = conn.Close() }()
	if len(raw) > 0 {
		_, _ = conn.Write(raw)
	}
	if tcp, ok := conn.(*net.TCPConn); ok && reset {
		_ = tcp.SetLinger(0) // a close then discards what is queued and sends RST
	}
}
