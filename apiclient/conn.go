package apiclient

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
)

// errUnrequested ends a connection on which the server sent bytes that no request asked for.
var errUnrequested = phrase.New("the server sent an answer without a request")

// trackedConn is a connection, above TLS, that knows which request it carries. Bytes of a request
// leave through it only, so it counts them and can stop them.
//
// On a kept connection four things are checked before the first byte, because each could tie an
// answer to the wrong request or lose a request for nothing: the server has not ended the
// connection, it has sent nothing since the last answer, that answer was a complete success, and
// the connection has not been idle for longer than idleMost.
type trackedConn struct {
	net.Conn

	// mu guards the fields below; changed is signalled whenever one of them changes.
	mu      sync.Mutex
	changed *sync.Cond
	// cur is the request that owns the connection, nil between requests.
	cur *exchange
	// writer is the request that wrote last, until its outcome is known.
	writer *exchange
	// freeAt is when that outcome was known; zero on a new connection.
	freeAt time.Time
	// idleMost is how long the connection may be idle before it is reused.
	idleMost time.Duration
	// reading is set while the transport waits in Read. Its read loop does so only when its buffer
	// is empty, so no byte of an earlier answer is left over.
	reading bool
	// ended is set when reading failed or the connection was closed.
	ended bool
	// spoke is set when bytes arrived that no request had asked for.
	spoke bool
}

func newTrackedConn(c net.Conn, idleMost time.Duration) *trackedConn {
	w := &trackedConn{Conn: c, idleMost: idleMost}
	w.changed = sync.NewCond(&w.mu)
	return w
}

// attach makes e the owner. The transport calls it, through the trace, before it writes.
func (w *trackedConn) attach(e *exchange) {
	w.mu.Lock()
	w.cur = e
	w.changed.Broadcast()
	w.mu.Unlock()
}

// release ends the ownership of e, if e still is the owner, and wakes a waiting write. Unless the
// answer was a complete success, the connection is closed: a second copy of a refusal, still on its
// way, would be taken for the answer to the next row.
func (w *trackedConn) release(e *exchange) {
	w.mu.Lock()
	if w.cur == e {
		w.cur = nil
	}
	spent := false
	if w.writer == e {
		w.writer, w.freeAt = nil, time.Now()
		spent = !e.succeeded()
		w.ended = w.ended || spent
	}
	w.changed.Broadcast()
	w.mu.Unlock()
	if spent {
		_ = w.Conn.Close()
	}
}

// Write passes bytes of the current request to the connection, if they may leave.
func (w *trackedConn) Write(p []byte) (int, error) {
	e, err := w.admit()
	if err != nil {
		return 0, err
	}
	if err := e.beginWrite(w); err != nil {
		return 0, err
	}
	n, err := w.Conn.Write(p)
	e.endWrite(p[:max(n, 0)])
	return n, err
}

// admit returns the owner. Before the first write of a request it waits until the connection is
// known to be clean.
func (w *trackedConn) admit() (*exchange, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := w.cur
	if e == nil {
		return nil, errOver
	}
	if e.hasWritten() {
		return e, nil
	}
	for (!w.reading || w.writer != nil && w.writer != e) && !w.ended && !w.spoke && !e.isOver() {
		w.changed.Wait()
	}
	switch {
	case e.isOver():
		return nil, errOver
	case w.ended || w.spoke || !w.freeAt.IsZero() && passed(w.freeAt) > w.idleMost:
		e.mu.Lock()
		e.idleDeath = true
		e.mu.Unlock()
		return nil, errIdleConn
	default:
		w.writer = e
		return e, nil
	}
}

// Read records when the server ends the connection or sends bytes that no request asked for. It
// does not return such bytes: the transport would print them with the standard logger, and they may
// be personal data.
func (w *trackedConn) Read(p []byte) (int, error) {
	w.mu.Lock()
	w.reading = true
	w.changed.Broadcast()
	w.mu.Unlock()

	n, err := w.Conn.Read(p)

	w.mu.Lock()
	defer w.mu.Unlock()
	w.reading = false
	if n > 0 && (w.cur == nil || !w.cur.hasWritten()) {
		w.spoke = true
		n, err = 0, errUnrequested
	}
	if err != nil {
		w.ended = true
	}
	w.changed.Broadcast()
	return n, err
}

// Close closes the connection and wakes a waiting write.
func (w *trackedConn) Close() error {
	w.mu.Lock()
	w.ended = true
	w.changed.Broadcast()
	w.mu.Unlock()
	return w.Conn.Close()
}

// handshakeError is a TLS handshake that failed. No byte of a request has left.
type handshakeError struct {
	host string
	err  error
}

func (e *handshakeError) Error() string { return e.Phrase().Error() }

func (e *handshakeError) Phrase() *phrase.Text {
	return phrase.New("TLS with %s: %w", e.host, handshakeText(e.host, e.err))
}

func (e *handshakeError) Unwrap() error { return e.err }

// certificate reports whether the two sides could not agree, as opposed to a network failure during
// the handshake. The former lasts until somebody acts; the latter is temporary.
func (e *handshakeError) certificate() bool {
	var errno syscall.Errno
	if _, ok := errors.AsType[*tls.CertificateVerificationError](e.err); ok {
		return true
	}
	network := []error{
		io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, os.ErrDeadlineExceeded, context.Canceled, context.DeadlineExceeded,
	}
	return !errors.As(e.err, &errno) && !slices.ContainsFunc(network, func(t error) bool { return errors.Is(e.err, t) })
}

// handshakeText describes what is wrong and who can fix it.
func handshakeText(host string, err error) *phrase.Text {
	var (
		invalid x509.CertificateInvalidError
		name    x509.HostnameError
		unknown x509.UnknownAuthorityError
		record  tls.RecordHeaderError
		alert   tls.AlertError
	)
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil:
		if now := time.Now(); now.Before(invalid.Cert.NotBefore) {
			return phrase.New("the certificate is valid only from %s on; check the clock of this host",
				invalid.Cert.NotBefore.UTC().Format(time.DateOnly))
		}
		return phrase.New(
			"the certificate expired on %s; whoever runs the API must renew it (or the clock of this host is wrong)",
			invalid.Cert.NotAfter.UTC().Format(time.DateOnly))
	case errors.As(err, &invalid):
		return phrase.New("the certificate is not valid: %w", invalid)
	case errors.As(err, &name):
		return phrase.New("the certificate is for %w, not for %s; check api.base_url",
			certificateNames(name.Certificate), host)
	case errors.As(err, &unknown):
		return phrase.New("the certificate is signed by an authority this host does not know; behind an inspecting proxy, or with a CA of your own, set api.ca_file")
	case errors.As(err, &record):
		return phrase.New("the server does not speak TLS on this port; check host and port in api.base_url")
	case errors.As(err, &alert):
		return phrase.New("the server refused the handshake: %w", alert)
	case errors.Is(err, context.Canceled):
		return phrase.New("given up during the handshake")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return phrase.New("the connection was closed during the handshake")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return phrase.New("no answer during the handshake within %v", handshakeTimeout)
	default:
		return phrase.New("%w (TLS 1.2 or newer is needed)", phrase.Fixed(strings.TrimPrefix(err.Error(), "tls: ")))
	}
}

func certificateNames(c *x509.Certificate) *phrase.Text {
	names := append([]string{}, c.DNSNames...)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	switch {
	case len(names) == 0:
		return phrase.New("no name at all")
	case len(names) > 3:
		return phrase.New("%s and others", strings.Join(names[:3], ", "))
	default:
		return phrase.New("%s", strings.Join(names, ", "))
	}
}

// networkText returns one line that explains what the network did, or what this package did with the
// connection; nil if it is something else, which is quoted.
func networkText(host string, err error) *phrase.Text {
	var dns *net.DNSError
	var op *net.OpError
	var own interface{ Phrase() *phrase.Text }
	switch {
	case errors.As(err, &own):
		return own.Phrase()
	case errors.As(err, &dns) && dns.IsNotFound:
		return phrase.New("the name %s was not found; check api.base_url and the DNS of this host", host)
	case errors.As(err, &dns):
		return phrase.New("the name %s could not be resolved; check the DNS of this host", host)
	case errors.Is(err, syscall.ECONNREFUSED):
		return phrase.New("%s refused the connection", host)
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return phrase.New("%s cannot be reached from this host; check network and firewall", host)
	case errors.As(err, &op) && op.Op == "dial" && op.Timeout():
		return phrase.New("no connection to %s within %v; check network and firewall", host, dialTimeout)
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return phrase.New("%s, or something before it, reset the connection", host)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return phrase.New("%s, or something before it, closed the connection", host)
	case errors.As(err, &op) && op.Timeout():
		return phrase.New("%s no longer answers on this connection", host)
	}
	return nil
}
