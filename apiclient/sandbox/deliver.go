package sandbox

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// receiverLimit is how long a receiver may take to answer 200 (chapters 6 and 8).
const receiverLimit = 30 * time.Second

// maxDelivering bounds concurrent deliveries, because a run may create thousands of commitments.
const maxDelivering = 16

var (
	errNotHTTPS = errors.New(
		"not sent: the receiver must be reachable over https (chapter 6); http is for this host only")
	errClosing = errors.New("not finished: the sandbox was closed")
)

func (s *Server) push(d *Delivery, w Webhook) (status int, err error) {
	if !deliverable(w.URL) {
		return 0, errNotHTTPS
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-s.cutting.Done():
		return 0, errClosing
	}
	req, err := http.NewRequestWithContext(s.cutting, http.MethodPost, w.URL, bytes.NewReader(d.Payload))
	if err != nil {
		return 0, withoutURL(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "safrasync-sandbox")
	if w.BasicAuthentication != "" {
		// SetBasicAuth is not used, because the text is sent as registered, whether or not it has a
		// colon.
		req.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(w.BasicAuthentication)))
	}
	res, err := s.receivers.Do(req)
	if err != nil {
		if s.cutting.Err() != nil {
			return 0, errClosing
		}
		return 0, withoutURL(err)
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.CopyN(io.Discard, res.Body, 64<<10) // only the status matters
	return res.StatusCode, nil
}

// withoutURL removes the address from net/http's errors, because it may contain a secret.
func withoutURL(err error) error {
	if at, ok := errors.AsType[*url.Error](err); ok {
		if at.Timeout() {
			return errors.New("the receiver did not answer in time")
		}
		return at.Err
	}
	return err
}

// WaitDeliveries waits until no delivery is in flight, or ctx ends.
func (s *Server) WaitDeliveries(ctx context.Context) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		s.mu.Lock()
		inFlight := slices.ContainsFunc(s.deliveries.kept, func(d *Delivery) bool { return !d.Done })
		s.mu.Unlock()
		if !inFlight {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// deliverable reports whether an event may be sent to the address: https to any host, http to this
// host only, where a rehearsal needs no certificate.
func deliverable(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname())
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// shownURL returns the address without the parts that may be secret.
func shownURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}
