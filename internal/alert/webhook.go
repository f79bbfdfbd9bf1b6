package alert

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Form is the message format of a webhook.
type Form string

// The forms.
const (
	Slack     Form = "slack"     // {"text": …, "blocks": …}; Mattermost and Rocket.Chat read it too
	Teams     Form = "teams"     // an adaptive card, as workflows of Microsoft Teams expect it
	Telegram  Form = "telegram"  // sendMessage of the Bot API
	PagerDuty Form = "pagerduty" // Events API v2: an incident that resolves itself
	JSON      Form = "json"      // for programs of one's own
)

// WebhookOptions configures a webhook.
type WebhookOptions struct {
	URL     func() string // a secret: anyone who has it can post to the channel
	Form    Form
	Chat    string        // of telegram
	Key     func() string // of pagerduty, a secret
	Roots   *x509.CertPool
	Timeout time.Duration // for one message
	Proxy   func() string // a secret; "" or nil: that of the environment
}

func (o WebhookOptions) proxy(req *http.Request) (*url.URL, error) {
	if o.Proxy == nil || o.Proxy() == "" {
		return http.ProxyFromEnvironment(req)
	}
	u, err := url.Parse(strings.TrimSpace(o.Proxy())) // as apiclient.CheckProxy reads it
	if err != nil {                                   // its text would contain the password
		return nil, errors.New("alerts.webhook.proxy is not an address")
	}
	return u, nil
}

// tunnelFault says of a proxy that opens no tunnel that it is the proxy.
func tunnelFault(_ context.Context, _ *url.URL, _ *http.Request, answer *http.Response) error {
	if answer.StatusCode == http.StatusOK {
		return nil
	}
	return &Fault{
		Code: fmt.Sprintf("proxy_%d", answer.StatusCode), All: true,
		Why: trade.Say("delivery.proxy"),
	}
}

// HTTPChannel is the HTTP channel.
type HTTPChannel struct {
	o      WebhookOptions
	client *http.Client
}

// webhookTarget is the target of the webhook.
const webhookTarget = "webhook:"

// NewWebhook returns the channel. It opens no connection.
func NewWebhook(o WebhookOptions) *HTTPChannel {
	return &HTTPChannel{o: o, client: o.Client()}
}

// Client returns a client that follows no redirect and keeps no connection.
func (o WebhookOptions) Client() *http.Client {
	return &http.Client{
		Timeout: o.Timeout,
		Transport: &http.Transport{
			Proxy: o.proxy, OnProxyConnectResponse: tunnelFault,
			DialContext:         (&net.Dialer{Timeout: o.Timeout}).DialContext,
			TLSHandshakeTimeout: o.Timeout,
			TLSClientConfig:     &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true,
			MaxResponseHeaderBytes: 64 << 10,
		},
		// A redirect would send the message to an unknown host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// String returns the form and the host. The rest of the address is secret.
func (w *HTTPChannel) String() string {
	host := "?"
	if u, err := url.Parse(w.o.URL()); err == nil {
		host = u.Hostname()
	}
	return "webhook " + string(w.o.Form) + " (" + host + ")"
}

// Format prints String for every verb.
func (w *HTTPChannel) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, w.String()) }

// Targets returns the one target, which does not contain the address.
func (w *HTTPChannel) Targets(kind string) []string {
	if kind == kindDigest && w.o.Form == PagerDuty {
		return nil // a digest is no incident
	}
	return []string{webhookTarget}
}

// Send delivers a message.
func (w *HTTPChannel) Send(ctx context.Context, target string, m Message) error {
	var body any
	switch w.o.Form {
	case Teams:
		body = m.teams()
	case Telegram:
		body = m.telegram(w.o.Chat)
	case PagerDuty:
		body = m.pagerDuty(w.o.Key())
	case JSON:
		body = m
	default:
		body = m.slack()
	}
	data, err := json.Marshal(body)
	if err != nil {
		return &Fault{Code: "form", Why: trade.Say("delivery.form")}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.o.URL(), bytes.NewReader(data))
	if err != nil {
		return &Fault{Code: "address", Why: trade.Say("delivery.webhook_address"), All: true}
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	status, answer, err := Exchange(ctx, w.client, req)
	switch {
	case err != nil:
		return err
	case status < 200 || status > 299:
		return httpFault(status)
	case !w.o.Form.accepted(status, answer):
		// An answer of success that says something else. Its text may contain the address.
		why := trade.Say("delivery.not_taken")
		if bytes.HasPrefix(bytes.TrimSpace(answer), []byte("<")) {
			why = trade.Say("delivery.page")
		}
		return &Fault{Code: "not_taken", Why: why, All: true}
	case m.Kind == kindTest && w.o.Form == PagerDuty: // a test leaves no incident open
		m.Kind = kindOver
		return w.Send(ctx, target, m)
	}
	return nil
}

// Exchange makes one request, and returns the status and the beginning of the answer. Its errors are
// of type *Fault.
func Exchange(ctx context.Context, client *http.Client, req *http.Request) (int, []byte, error) {
	req.Header.Set("User-Agent", "safrasync")
	resp, err := client.Do(req)
	if err != nil {
		var wrapped *url.Error
		var fault *Fault
		if errors.As(err, &fault) {
			return 0, nil, fault
		}
		if errors.As(err, &wrapped) { // its text contains the address
			err = wrapped.Err
		}
		return 0, nil, connectionFault(ctx, err)
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // what is missing then is no success
	return resp.StatusCode, answer, nil
}

// accepted reports whether an answer with a status of success is one with which the receivers of the
// form say that they took the message. Several answer 200 and say in the text that they did not,
// and a proxy answers 200 with a page. An empty answer says nothing else than its status.
func (f Form) accepted(status int, answer []byte) bool {
	text := strings.ToLower(string(bytes.TrimSpace(answer)))
	if text == "" {
		return true
	}
	// Slack and Mattermost say only ok; Rocket.Chat says success; Telegram, Slack's API and what
	// imitates it ok; PagerDuty a status
	var said struct {
		OK      *bool `json:"ok"`
		Success *bool `json:"success"`
		Status  any   `json:"status"`
	}
	err := json.Unmarshal(answer, &said)
	refused := said.OK != nil && !*said.OK || said.Success != nil && !*said.Success
	switch f {
	case Teams: // a workflow accepts with 202; a connector takes with "1"
		return status == http.StatusAccepted && text[0] != '<' || text == "1"
	case PagerDuty:
		return said.Status == "success"
	case Telegram:
		return said.OK != nil && *said.OK
	case JSON: // a program of one's own may say what it likes, but not that it failed
		return !refused && text[0] != '<'
	}
	return text == "ok" || err == nil && !refused && (said.OK != nil || said.Success != nil)
}

// httpFault returns what a status means that is no success.
func httpFault(status int) *Fault {
	why := trade.Say("delivery.http")
	switch {
	case status >= 300 && status <= 399:
		why = trade.Say("delivery.http_elsewhere")
	case status == http.StatusNotFound || status == http.StatusGone || status == http.StatusForbidden ||
		status == http.StatusUnauthorized:
		why = trade.Say("delivery.http_unknown")
	case status == http.StatusTooManyRequests:
		why = trade.Say("delivery.http_wait")
	case status >= 500:
		why = trade.Say("delivery.http_trouble")
	}
	return &Fault{Code: fmt.Sprintf("http_%d", status), Why: why, All: true}
}

// conns are the connections of one delivery, so that its end closes them in any case.
type conns struct {
	mu     sync.Mutex // guards both
	open   []net.Conn
	closed bool
}

// track stores the connection of a successful dial, and passes the result on.
func (c *conns) track(conn net.Conn, err error) (net.Conn, error) {
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		_ = conn.Close()
		return nil, net.ErrClosed
	}
	c.open = append(c.open, conn)
	return conn, nil
}

func (c *conns) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, conn := range c.open {
		_ = conn.Close() // it may be closed already
	}
	c.open = nil
}
