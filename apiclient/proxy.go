package apiclient

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"

	"github.com/safrasync/safrasync/internal/phrase"
)

// parseProxy parses the address of a proxy. Its errors do not contain the address, which may have a
// password.
func parseProxy(s string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(s))
	switch {
	case err != nil:
		return nil, errors.New(
			"not a valid address; write http://proxy.example.com:3128, with %-escapes in a user and password (@ is %40)")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, errors.New("must have a scheme, a host and a port, as in http://proxy.example.com:3128")
	case u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("must end after the port, as in http://proxy.example.com:3128")
	}
	if u.Port() == "" {
		u.Host = net.JoinHostPort(u.Hostname(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	}
	return u, nil
}

// CheckProxy returns what is wrong with the address of a proxy, without the address itself.
func CheckProxy(s string) error {
	_, err := parseProxy(s)
	return err
}

// connectThrough asks a proxy for a tunnel, and returns the status of its answer.
func connectThrough(c net.Conn, user *url.Userinfo, target string) (status int, err error) {
	ask := "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n"
	if user != nil {
		password, _ := user.Password()
		ask += "Proxy-Authorization: Basic " +
			base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password)) + "\r\n"
	}
	if _, err := io.WriteString(c, ask+"\r\n"); err != nil {
		return 0, err
	}
	answer := bufio.NewReader(io.LimitReader(c, maxHeaderBytes))
	// Its body is left alone: what opens a tunnel has none, whatever its headers say, and any other
	// ends with the connection.
	resp, err := http.ReadResponse(answer, &http.Request{Method: http.MethodConnect}) //nolint:bodyclose // see above
	if err != nil {
		return 0, err
	}
	if resp.StatusCode == http.StatusOK && answer.Buffered() > 0 { // TLS begins on this side
		return resp.StatusCode, errUnrequested
	}
	return resp.StatusCode, nil
}

// proxyError is a proxy through which no tunnel came about.
type proxyError struct {
	proxy, target string
	status        int // of its answer; 0 = none
	err           error
}

func (e *proxyError) Unwrap() error { return e.err }

func (e *proxyError) Error() string { return e.Phrase().Error() }

// Phrase says what is wrong and who can fix it. The answer's own words are left out.
func (e *proxyError) Phrase() *phrase.Text {
	var dns *net.DNSError
	var verify *tls.CertificateVerificationError
	switch {
	case e.err == nil && e.status == http.StatusProxyAuthRequired:
		return phrase.New("the proxy %s asks for a user and password, or refuses those of api.proxy (407)", e.proxy)
	case e.err == nil && e.status >= http.StatusInternalServerError:
		return phrase.New("the proxy %s did not reach %s (%d); whoever runs it can say why", e.proxy, e.target, e.status)
	case e.err == nil:
		return phrase.New("the proxy %s does not open a connection to %s (%d); whoever runs it must allow that",
			e.proxy, e.target, e.status)
	case errors.As(e.err, &dns):
		return phrase.New("the proxy %s was not found; check api.proxy and the DNS of this host", e.proxy)
	case errors.As(e.err, &verify):
		return phrase.New("the proxy %s has a certificate that this host does not trust; set api.ca_file", e.proxy)
	case errors.Is(e.err, syscall.ECONNREFUSED):
		return phrase.New("the proxy %s refused the connection; check api.proxy", e.proxy)
	case errors.Is(e.err, os.ErrDeadlineExceeded), errors.Is(e.err, context.DeadlineExceeded):
		return phrase.New("the proxy %s did not answer within %v; check api.proxy and the network", e.proxy, dialTimeout)
	case errors.Is(e.err, io.EOF), errors.Is(e.err, io.ErrUnexpectedEOF), errors.Is(e.err, syscall.ECONNRESET):
		return phrase.New("the proxy %s closed the connection; check api.proxy", e.proxy)
	case e.status == 0:
		return phrase.New("the proxy %s does not answer as a proxy; check api.proxy", e.proxy)
	}
	return phrase.New("the proxy %s cannot be used", e.proxy)
}
