package receiver

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/safrasync/safrasync/internal/connlimit"
	"github.com/safrasync/safrasync/trade"
)

// The limits of a request. They are far above what the platform needs, and far below what does
// harm.
const (
	MaxBody       = 1 << 20 // bytes of an event
	maxHeader     = 16 << 10
	headerTime    = 5 * time.Second
	requestTime   = 10 * time.Second // for the whole request
	answerTime    = 10 * time.Second // for sending the answer
	storeTime     = 20 * time.Second // for storing the event; the platform waits 30 s for its answer
	shutdownTime  = 3 * time.Second
	maxConns      = 512
	eachConns     = 64   // of one sender
	globalRate    = 1000 // events per second
	globalBurst   = 5000
	retryAfter    = "30"
	maxPathLength = 250
	smallBody     = 64 << 10 // bytes that every sender may have in memory
	largeBodies   = 32       // number of requests that may have more at a time
)

// Inbox stores events. When StoreEvents returns nil, the events are durable on disk. The same event
// may be passed to it again.
type Inbox interface {
	StoreEvents(ctx context.Context, events []trade.InboxEvent) error
}

// Setup configures a receiver.
type Setup struct {
	Listener net.Listener
	TLS      *tls.Config // nil: plain HTTP, from Proxies only
	// Proxies are the addresses from which plain HTTP is accepted, and whose X-Forwarded-For is
	// trusted; none means this host.
	Proxies []netip.Prefix
	Inbox   Inbox
	// Webhooks returns the registrations whose events are accepted.
	Webhooks func(context.Context) ([]trade.Webhook, error)
	// Stored is called after events were stored, so that they are processed; it must not block.
	Stored func()
	// Fault is called with faults for IT, which never contain a path, a credential or a body. Equal
	// faults may be reported often.
	Fault func(what string, err error)
	// Refused counts what is refused, by cause.
	Refused func(cause string, err error)
	Now     func() time.Time
}

// Intake takes events until it is closed.
type Intake struct {
	opts   Setup
	http   *http.Server
	conns  *boundListener
	keeper *keeper
	book   *registrations
	all    *rate.Limiter
	large  chan struct{} // one slot for each large body in memory
	done   chan error
}

// Start begins to serve. It takes ownership of the listener.
func Start(opts Setup) *Intake {
	s := &Intake{
		opts: opts, all: rate.NewLimiter(globalRate, globalBurst),
		large: make(chan struct{}, largeBodies), done: make(chan error, 1),
	}
	s.book = newBook(opts)
	s.keeper = newKeeper(opts)
	s.conns = &boundListener{Listener: opts.Listener, plain: opts.TLS == nil, proxies: opts.Proxies}
	s.conns.refused = func() { opts.Refused("foreign", nil) }
	within := &connlimit.Listener{
		Listener: s.conns, Most: maxConns, Each: eachConns,
		Shared:    func(netip.Addr) bool { return s.conns.proxied() },
		OnRefused: func() { opts.Refused("connection", nil) },
	}
	s.http = &http.Server{
		Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: headerTime, ReadTimeout: requestTime,
		WriteTimeout: requestTime + storeTime + answerTime, MaxHeaderBytes: maxHeader,
		// HTTP/1.1 only: one request per connection
		TLSConfig: opts.TLS, TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
		ConnContext: connlimit.Context,
		// net/http's messages about broken handshakes and requests, with which strangers could fill the log
		ErrorLog:                     log.New(io.Discard, "", 0),
		DisableGeneralOptionsHandler: true,
	}
	s.http.SetKeepAlivesEnabled(false)
	go func() {
		if opts.TLS != nil {
			s.done <- s.http.ServeTLS(within, "", "")
			return
		}
		s.done <- s.http.Serve(within)
	}()
	return s
}

// Close stops accepting events; those that are being stored are answered.
func (s *Intake) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if err != nil { // slow senders
		err = s.http.Close()
	}
	if served := <-s.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	s.book.close()
	s.keeper.close()
	return err
}

// serve handles a request, in the order of the package comment.
func (s *Intake) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		s.refuse(w, http.StatusMethodNotAllowed)
		return
	}
	hook, known, read := s.book.find(r.Context(), r.URL.EscapedPath(), r.URL.RawQuery)
	switch {
	case !known && !read: // it may be one
		s.refuse(w, http.StatusServiceUnavailable) // strangers ask too
		return
	case !known:
		s.refuse(w, http.StatusNotFound)
		return
	}
	if !authorised(r.Header.Values("Authorization"), hook.login) {
		w.Header().Set("WWW-Authenticate", `Basic realm="events", charset="UTF-8"`)
		s.refuse(w, http.StatusUnauthorized)
		return
	}
	connlimit.Know(r.Context())
	if coding := r.Header.Values("Content-Encoding"); len(coding) > 0 &&
		!(len(coding) == 1 && strings.EqualFold(coding[0], "identity")) {
		s.refuse(w, http.StatusUnsupportedMediaType)
		return
	}
	if !s.all.Allow() {
		s.refuse(w, http.StatusTooManyRequests)
		return
	}
	body, done, ok := s.read(w, r)
	defer done()
	if !ok {
		return
	}
	hash := sha256.New()
	_, _ = io.WriteString(hash, hook.Event+"\x00") // a hash never fails
	_, _ = hash.Write(body)
	now, contentType := s.opts.Now().UTC(), r.Header.Get("Content-Type")
	event := trade.InboxEvent{
		Event: hook.Event, Webhook: hook.ID, Hash: hex.EncodeToString(hash.Sum(nil)), Body: body,
		ContentType: contentType[:min(len(contentType), 200)], From: s.sender(r),
		FirstAt: now, LastAt: now, Times: 1, NextAt: now,
	}
	if err := s.keeper.store(event); err != nil {
		s.opts.Fault("an event could not be stored: the platform was answered 503", err)
		s.refuse(w, http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusOK)
}

// read returns the whole body. A large body has its slot until done is called.
func (s *Intake) read(w http.ResponseWriter, r *http.Request) (body []byte, done func(), ok bool) {
	done = func() {}
	if r.ContentLength > MaxBody {
		if r.Header.Get("Expect") == "" {
			// A proxy that still writes would see a reset connection instead of the answer.
			_, _ = io.CopyN(io.Discard, r.Body, 2*MaxBody)
		}
		s.refuse(w, http.StatusRequestEntityTooLarge)
		return nil, done, false
	}
	source := http.MaxBytesReader(w, r.Body, MaxBody)
	body, err := io.ReadAll(io.LimitReader(source, smallBody))
	if err == nil && len(body) == smallBody {
		select {
		case s.large <- struct{}{}:
			done = func() { <-s.large }
		default:
			s.refuse(w, http.StatusTooManyRequests)
			return nil, done, false
		}
		var rest []byte
		rest, err = io.ReadAll(source)
		body = append(body, rest...)
	}
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		s.refuse(w, http.StatusRequestEntityTooLarge)
		return nil, done, false
	case err != nil: // too slow, cut, or invalid chunks
		s.refuse(w, http.StatusRequestTimeout)
		return nil, done, false
	}
	return body, done, true
}

// causes are the causes of refusals, as they are counted.
var causes = map[int]string{
	http.StatusMethodNotAllowed: "method", http.StatusNotFound: "path", http.StatusUnauthorized: "login",
	http.StatusUnsupportedMediaType: "packed", http.StatusTooManyRequests: "rate", http.StatusRequestTimeout: "slow",
	http.StatusRequestEntityTooLarge: "large", http.StatusServiceUnavailable: "not_stored",
}

// refuse answers with a status only, so that the sender learns nothing else.
func (s *Intake) refuse(w http.ResponseWriter, status int) {
	s.opts.Refused(causes[status], nil)
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", retryAfter)
	}
	w.WriteHeader(status)
}

// sender returns the address of the sender: the other end of the connection or, behind a proxy, the
// last address that the proxy names.
func (s *Intake) sender(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	if s.opts.TLS != nil && len(s.opts.Proxies) == 0 {
		return host
	}
	at, err := netip.ParseAddr(host)
	if err != nil || !s.conns.from(at) {
		return host
	}
	if told, ok := connlimit.Forwarded(r.Header); ok {
		return told.String()
	}
	return host
}

// authorised compares Basic credentials with the hash of those of the registration. It compares
// hashes in constant time, so that the time reveals neither content nor length.
func authorised(headers []string, login [sha256.Size]byte) bool {
	given := ""
	well := len(headers) == 1 // two headers are an attempt to trick
	if well {
		scheme, rest, _ := strings.Cut(headers[0], " ")
		plain, err := base64.StdEncoding.DecodeString(strings.TrimLeft(rest, " "))
		well = err == nil && strings.EqualFold(scheme, "Basic")
		given = string(plain)
	}
	sum := sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(sum[:], login[:]) == 1 && well
}

// boundListener closes connections that do not come from a proxy, if only proxies are allowed.
type boundListener struct {
	net.Listener
	plain   bool
	proxies []netip.Prefix

	refused func() // called for each connection that was closed at once
}

// proxied reports whether only connections from proxies, or from this host, are served.
func (l *boundListener) proxied() bool { return l.plain || len(l.proxies) > 0 }

// from reports whether an address is that of a proxy; without a list of proxies, whether it is this
// host.
func (l *boundListener) from(at netip.Addr) bool {
	at = at.Unmap()
	if len(l.proxies) == 0 {
		return at.IsLoopback()
	}
	return slices.ContainsFunc(l.proxies, func(p netip.Prefix) bool { return p.Contains(at) })
}

// Accept returns the next connection that may be served.
func (l *boundListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		at, _ := conn.RemoteAddr().(*net.TCPAddr)
		if !l.proxied() || at != nil && l.from(at.AddrPort().Addr()) {
			return conn, nil
		}
		l.refused()
		_ = conn.Close()
	}
}
