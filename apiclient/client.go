package apiclient

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
)

// Client talks to one API with one key. It is safe for concurrent use. Close it when done.
type Client struct {
	base      *url.URL
	key       func() string // a function, because fmt prints unexported fields plainly
	redact    redactor
	timeout   time.Duration
	userAgent string
	transport *http.Transport
	dialer    *dialer
	close     context.CancelFunc
	closed    atomic.Bool
	closing   <-chan struct{}
	pace      *Pace
	observer  func(Observation) // nil: no observer
	// readBackoff is the first pause between two attempts of a GET.
	readBackoff time.Duration
	once        bool // nothing is repeated
}

// New returns a client. It opens no connection. Its error names every invalid option, but not the key or
// the whole base URL, because a password may have been typed into either.
func New(o Settings) (*Client, error) {
	var errs []error
	base, err := checkBaseURL(o.BaseURL)
	if err != nil {
		errs = append(errs, phrase.Errorf("api.base_url: %w", err))
	}
	key, err := checkKey(string(o.APIKey))
	if err != nil {
		errs = append(errs, phrase.Errorf("api.api_key: %w", err))
	}
	var proxy *url.URL // nil: none
	if o.Proxy != "" {
		proxy, err = parseProxy(string(o.Proxy))
		if err == nil && base != nil && base.Scheme == "http" {
			err = errors.New("does not apply to an api.base_url on this host; remove it")
		}
		if err != nil {
			errs = append(errs, phrase.Errorf("api.proxy: %w", err))
		}
	}
	roots, err := loadRoots(o.CAFile)
	if err != nil {
		errs = append(errs, phrase.Errorf("api.ca_file: %w", err))
	}
	if o.Timeout < 0 {
		errs = append(errs, phrase.Errorf("api.timeout: %v is negative; use a duration such as 120s", o.Timeout))
	}
	if o.MaxConns < 0 {
		errs = append(errs, phrase.Errorf("api.max_in_flight: %d is negative; use 1 or more", o.MaxConns))
	}
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	o.MaxConns = cmp.Or(o.MaxConns, defaultMaxConns)
	o.UserAgent = cmp.Or(o.UserAgent, defaultUserAgent)
	if hasControl(o.UserAgent) {
		errs = append(errs, errors.New("user agent: contains a control character"))
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	closing, cancel := context.WithCancel(context.Background())
	d := &dialer{
		Dialer: net.Dialer{
			Timeout: dialTimeout,
			KeepAliveConfig: net.KeepAliveConfig{
				Enable: true, Idle: 15 * time.Second,
				Interval: 5 * time.Second, Count: 3,
			},
		},
		tls: &tls.Config{
			MinVersion: tls.VersionTLS12,
			RootCAs:    roots,
			ServerName: base.Hostname(),
			// HTTP/1.1 only: over HTTP/2, Go by itself repeats a POST after some stream errors.
			NextProtos:         []string{"http/1.1"},
			ClientSessionCache: tls.NewLRUClientSessionCache(o.MaxConns),
		},
		loopbackOnly: base.Scheme == "http",
		idleMost:     idleTimeout,
		proxy:        proxy,
		instead:      o.Dial,
		closing:      closing,
	}
	secrets := []string{key}
	if proxy != nil && proxy.User != nil {
		password, _ := proxy.User.Password()
		secrets = append(secrets, password, proxy.User.Username()+":"+password)
	}
	// The transport never uses a proxy from the environment, only that of the configuration, through
	// which the dialer tunnels.
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &Client{
		base:      base,
		key:       func() string { return key },
		redact:    redactor{forms: func() []spelling { return nil }}.with(hidden, secrets...),
		timeout:   o.Timeout,
		userAgent: o.UserAgent,
		transport: &http.Transport{
			Proxy:                  nil,
			DialContext:            d.dial,
			DialTLSContext:         d.dialTLS,
			Protocols:              protocols,
			DisableCompression:     true,
			MaxIdleConns:           o.MaxConns,
			MaxIdleConnsPerHost:    o.MaxConns,
			IdleConnTimeout:        idleTimeout,
			MaxResponseHeaderBytes: maxHeaderBytes,
			// Header and body of an ordinary request, of one or two KiB, leave in one write. Each
			// connection allocates such a buffer.
			WriteBufferSize: 8 << 10,
		},
		dialer:      d,
		close:       cancel,
		pace:        cmp.Or(o.Pace, NewPace(0, 0)),
		closing:     closing.Done(),
		observer:    o.Observe,
		readBackoff: defaultReadBackoff,
		once:        o.Once,
	}, nil
}

// Pace returns the client's rate limit [api.rate_limit]; the document names none (chapter 8).
func (c *Client) Pace() *Pace { return c.pace }

// Close cancels dials in progress and closes idle connections. Requests in flight end by
// themselves; later calls are refused unsent. It may be called twice.
func (c *Client) Close() {
	c.closed.Store(true)
	c.close()
	c.transport.CloseIdleConnections()
}

// CertificateEnds returns the expiry of the certificate that the API, or a proxy that inspects
// traffic, presented in the last handshake. It returns the zero time before the first handshake,
// and for http://. It makes no call; it describes the connections of chapter 5.
func (c *Client) CertificateEnds() time.Time {
	if at := c.dialer.ends.Load(); at != 0 {
		return time.Unix(at, 0).UTC()
	}
	return time.Time{}
}

// String returns a text that names the host only.
func (c *Client) String() string { return "apiclient for " + c.base.Host }

// Format prints String for every verb, because %+v would print the transport's fields.
func (c *Client) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, c.String()) }

// call is one request to be made.
type call struct {
	op     string // for errors: "create order commitment"
	method string
	path   string // begins with /api/v1/; every variable part is already checked and needs no escaping
	query  url.Values
	body   []byte // nil: none
	gate   func() error
	// bad is what is wrong with the request, which then is not sent.
	bad error
	// idOf reads the id of a created record from a complete 2xx body; nil for calls that create
	// nothing.
	idOf func(body []byte) (string, error)
	// secrets are credentials in the request: hidden wherever they are echoed.
	secrets []string
	// credentials is set for calls about webhooks: the answer may hold secrets, including those of
	// other webhooks.
	credentials bool
	// persons are document numbers in the request: hidden everywhere except in the body of a 2xx,
	// where they belong.
	persons []string
	// redact is c.redact with persons and secrets; redactBody with secrets only. Both are set by
	// send.
	redact, redactBody redactor
}

// result is the outcome of a call. err is nil exactly on an HTTP success, which for a call that
// creates includes an id.
type result struct {
	Answer
	call  call
	fault FaultCode
	err   error
	// askedWait is how long a 429 or a 503 asked us to wait; 0 if a 503 named no time.
	askedWait time.Duration
}

// outcome turns the result into what the exported methods return.
func (r result) outcome() (Answer, error) {
	if r.fault == FaultNone && r.err == nil && r.success() {
		return r.Answer, nil
	}
	return r.Answer, &CallError{
		Op: r.call.op, Answer: r.Answer, Err: r.err, Fault: r.fault, method: r.call.method,
	}
}

func (r result) success() bool {
	return r.Status >= 200 && r.Status <= 299 && r.Known != CreatedIDUnknown
}

// unsent returns the result of a call that was never begun.
func unsent(call call, fault FaultCode, err error) result {
	return result{
		Answer: Answer{
			Known: NotSent, Text: sanitise([]byte(err.Error()), 300),
			Evidence: Evidence{StartedAt: time.Now().UTC().Round(0), Err: sanitise([]byte(err.Error()), 300)},
		},
		call: call, fault: fault, err: err,
	}
}

// maxIdleTries bounds how many kept connections in a row may turn out to be dead.
const maxIdleTries = 3

// send makes the call; one that reads waits for its turn. The request is sent at most once.
func (c *Client) send(ctx context.Context, call call) (res result) {
	switch {
	case call.bad != nil:
		return unsent(call, FaultRequest, call.bad)
	case c.closed.Load():
		return unsent(call, FaultCanceled, errClosed)
	}
	call.redactBody = c.redact.with(hidden, call.secrets...)
	call.redact = call.redactBody.with(hiddenDocument, call.persons...)
	if call.method == http.MethodGet {
		if err := c.waitTurn(ctx); err != nil {
			switch {
			case ctx.Err() != nil:
				fault, text := ended(ctx)
				return unsent(call, fault, &cause{
					phrase.New("%w while the call waited for its turn", text),
					errors.Join(ctx.Err(), context.Cause(ctx)),
				})
			case errors.Is(err, errTooLate):
				return unsent(call, FaultTimeout,
					&cause{phrase.New("%w", err), errors.Join(err, context.DeadlineExceeded)})
			default:
				return unsent(call, FaultCanceled, err)
			}
		}
	}
	epoch := c.pace.begun()
	defer func() { c.pace.observe(epoch, res.Status) }()
	started := time.Now()
	defer func() {
		if c.observer == nil {
			return
		}
		outcome := res.Known.String()
		if res.Known == Unknown && res.err == nil && res.fault == FaultNone && res.success() {
			outcome = "answered"
		}
		c.observer(Observation{Operation: call.op, Status: res.Status, Outcome: outcome, Took: time.Since(started)})
	}()
	res = c.dispatch(ctx, call)
	res.call = call
	return res
}

// dispatch makes the call. It repeats it in one case only: when a kept connection turns out to have
// ended before anything was written and before the gate was asked, it uses another connection.
func (c *Client) dispatch(ctx context.Context, call call) result {
	started := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout,
		&timeoutError{phrase.New("no complete answer within %v (api.timeout)", c.timeout)})
	defer cancel()
	for try := 1; ; try++ {
		ex := newExchange(ctx, started, call)
		res := c.exchange(ctx, call, ex)
		if res.err == nil || try == maxIdleTries || !ex.untouched() || ctx.Err() != nil {
			return res
		}
		c.transport.CloseIdleConnections()
	}
}

// untouched reports whether a finished exchange failed only because its connection had already
// ended.
func (e *exchange) untouched() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.wroteOn == nil && !e.gateRan && (e.idleDeath || e.reused)
}

func (c *Client) exchange(ctx context.Context, call call, ex *exchange) result {
	// Through the context the dialer and the connection find this exchange.
	ctx = context.WithValue(ctx, exchangeKey{}, ex)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSStart:             func(httptrace.DNSStartInfo) { ex.reach(PhaseDNS) },
		ConnectStart:         func(string, string) { ex.reach(PhaseConnect) },
		GotConn:              ex.gotConn,
		GotFirstResponseByte: ex.firstByte,
		// WroteRequest is not used: Go calls it when the request is in its buffer, before all of it
		// is written. Got1xxResponse is not used: with it, Go would no longer apply the header
		// limit to interim answers.
	})
	u := *c.base
	u.Path += call.path
	if u.RawPath != "" {
		u.RawPath += call.path
	}
	u.RawQuery = call.query.Encode()
	req := &http.Request{ // GetBody stays nil, so Go cannot send the body again
		Method: call.method, URL: &u, Host: u.Host,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{
			"Authorization": {c.key()}, // no scheme (chapter 5)
			"Accept":        {"application/json"},
			// Requested explicitly; if an answer is compressed all the same, it is not decoded.
			"Accept-Encoding": {"identity"},
			"User-Agent":      {c.userAgent},
		},
	}
	if call.body != nil {
		req.Body = io.NopCloser(bytes.NewReader(call.body))
		req.ContentLength = int64(len(call.body))
	}
	if call.body != nil || call.method == http.MethodDelete {
		req.Header.Set("Content-Type", "application/json") // on DELETE too (chapter 7, 415)
	}
	req = req.WithContext(ctx)
	sent := call.redact.header(req.Header)
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		ex.finish()
		res := c.failed(ctx, call, ex, err)
		res.RequestHeader = sent
		return res
	}
	defer func() { _ = resp.Body.Close() }()
	if !ex.hasWritten() {
		// Bytes of an earlier exchange, or a server that speaks first. Either way, it is no answer
		// to this request.
		ex.finish()
		if !ex.hasWritten() {
			res := c.failed(ctx, call, ex, errors.New("an answer arrived before the request was sent"))
			res.fault = FaultProtocol
			res.RequestHeader = sent
			return res
		}
	}
	ex.reach(PhaseHeaders)
	body, format, readErr := readBody(resp, ex)
	if readErr == nil && format == FormatNone {
		ex.reach(PhaseComplete)
		if success(resp.StatusCode) {
			ex.mu.Lock()
			ex.success = true
			ex.mu.Unlock()
		}
	}
	ex.finish()
	elapsed := ex.sinceWrite()

	form, res := readAnswer(call, resp, format, body)
	res.Evidence = ex.evidence()
	if readErr != nil {
		res.Evidence.Err, res.Evidence.Why = call.redact.errorText(readErr), c.why(call, readErr)
	}
	res.Known = classify(resp, form, res.APIForm(), elapsed)
	switch {
	case res.Known == Throttled:
		now := time.Now()
		res.RetryAfter = retryAfter(resp.Header, now)
		res.ThrottledUntil = now.Add(res.RetryAfter).UTC().Round(0)
		res.askedWait = res.RetryAfter
	case resp.StatusCode == http.StatusServiceUnavailable:
		res.askedWait, _ = askedWait(resp.Header, time.Now())
	case success(resp.StatusCode) && call.idOf != nil && resp.ProtoMajor == 1:
		res.Known = Created
		res.ID, res.err = call.createdID(form, body)
		if res.err != nil {
			res.Known, res.ID = CreatedIDUnknown, ""
			res.Text = sanitise([]byte(res.err.Error()), 300)
		}
	}
	res.fault = replyFault(ctx, resp, res.Known, readErr)
	if res.fault != FaultNone {
		res.err = replyError(ctx, call, resp, res.fault, readErr)
		res.Text = res.err.Error()
	}
	res.RequestHeader = sent
	return res
}

// failed returns the result of a call for which no complete status line and header arrived.
func (c *Client) failed(ctx context.Context, call call, ex *exchange, err error) result {
	res := result{Answer: Answer{Known: Unknown, Evidence: ex.evidence()}}
	if !ex.hasWritten() {
		res.Known = NotSent
	}
	why, raw := c.why(call, err), err
	res.Evidence.Err = call.redact.errorText(err)
	var handshake *handshakeError
	var refused *dialRefusedError
	res.fault = FaultNetwork
	switch gateErr := ex.gateError(); {
	case gateErr != nil:
		res.fault, raw, why = FaultWindow, gateErr, c.why(call, gateErr)
		res.Evidence.Err = why.Error()
	case errors.As(err, &handshake) && handshake.certificate():
		res.fault = FaultCertificate
	case ctx.Err() != nil:
		res.fault, why = ended(ctx)
		raw = errors.Join(ctx.Err(), context.Cause(ctx), err)
	case res.Known == NotSent && c.closed.Load():
		res.fault, why = FaultCanceled, errClosed
	case errors.As(err, &refused):
		res.fault = FaultRequest
	}
	text := why
	switch {
	case res.fault != FaultNetwork:
	case res.Evidence.Phase >= PhaseFirstByte:
		res.fault, text = FaultProtocol, phrase.New("the answer is not readable HTTP: %w", why)
	case res.Known != NotSent:
		text = phrase.New("the connection was lost before an answer came: %w", why)
	}
	res.Evidence.Why = why
	res.Text = text.Error()
	res.err = &cause{text, raw}
	return res
}

// why returns an error of the network, or of what stands before it, without secrets.
func (c *Client) why(call call, err error) *phrase.Text {
	t := networkText(c.base.Hostname(), err)
	if t == nil || call.redact.text(t.Error()) != t.Error() {
		return phrase.Fixed(call.redact.errorText(err))
	}
	return t
}

// ended returns why ctx ended, as a fault and a text.
func ended(ctx context.Context) (FaultCode, *phrase.Text) {
	var timeout *timeoutError
	switch why := context.Cause(ctx); {
	case errors.As(why, &timeout):
		return FaultTimeout, timeout.Text
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return FaultTimeout, phrase.New("the caller's deadline passed")
	default:
		return FaultCanceled, phrase.New("the call was cancelled")
	}
}

func (e *exchange) gateError() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.gateErr
}
