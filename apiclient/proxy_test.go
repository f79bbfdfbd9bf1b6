package apiclient_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/must"
)

// connectProxy is an HTTP proxy that opens tunnels for those who know its password.
type connectProxy struct {
	addr string
	// instead answers a CONNECT in its place; "": it opens the tunnel.
	instead string
	// more are headers of the answer that opens it.
	more string

	mu     sync.Mutex // guards asked
	asked  []string   // the requests, with the credentials
	passed strings.Builder
}

const proxyUser, proxyPassword = "coop", "pä:ss@wörd"

func startProxy(t *testing.T, p *connectProxy, cert *tls.Certificate) *connectProxy {
	t.Helper()
	addr, end := accept(t, func(raw *net.TCPConn) {
		defer context.AfterFunc(t.Context(), func() { _ = raw.Close() })()
		var c net.Conn = raw
		if cert != nil {
			c = tls.Server(raw, &tls.Config{Certificates: []tls.Certificate{*cert}, MinVersion: tls.VersionTLS12})
		}
		p.serve(c)
	})
	t.Cleanup(end)
	p.addr = addr
	return p
}

func (p *connectProxy) serve(c net.Conn) {
	r, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	p.mu.Lock()
	p.asked = append(p.asked, r.Method+" "+r.Host+" "+r.Header.Get("Proxy-Authorization"))
	p.mu.Unlock()
	if p.instead != "" {
		_, _ = io.WriteString(c, p.instead)
		return
	}
	if r.Header.Get("Proxy-Authorization") !=
		"Basic "+base64.StdEncoding.EncodeToString([]byte(proxyUser+":"+proxyPassword)) {
		_, _ = io.WriteString(c, "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
		return
	}
	there, err := net.Dial("tcp", r.Host)
	if err != nil {
		_, _ = io.WriteString(c, "HTTP/1.1 502 Bad Gateway\r\n\r\n<html>"+r.Header.Get("Proxy-Authorization"))
		return
	}
	defer func() { _ = there.Close() }()
	_, _ = io.WriteString(c, "HTTP/1.1 200 Connection established\r\n"+p.more+"\r\n")
	done := make(chan struct{}, 2)
	go func() { p.relay(there, c, true); done <- struct{}{} }()
	go func() { p.relay(c, there, false); done <- struct{}{} }()
	<-done
	_, _ = c.Close(), there.Close()
	<-done
}

// relay copies, and keeps what the client sent.
func (p *connectProxy) relay(to, from net.Conn, client bool) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && client {
			p.mu.Lock()
			p.passed.Write(buffer[:n])
			p.mu.Unlock()
		}
		if err != nil {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func (p *connectProxy) url(scheme, user, password string) apiclient.Secret {
	u := url.URL{Scheme: scheme, Host: p.addr, User: url.UserPassword(user, password)}
	return apiclient.Secret(u.String())
}

// With a proxy of the configuration every request goes through a tunnel, which carries only TLS
// with the platform itself; the connection is kept as without one.
func TestRequestsGoThroughTheProxyOfTheConfiguration(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	s, protos := startTLS(t, ca.issue(t, nil), nil)
	cert := ca.issue(t, nil)
	for scheme, own := range map[string]*tls.Certificate{"http": nil, "https": &cert} {
		p := startProxy(t, &connectProxy{}, own)
		c := newClient(t, apiclient.Settings{
			BaseURL: s.URL, CAFile: ca.file, Proxy: p.url(scheme, proxyUser, proxyPassword),
		})
		for i := range 3 {
			a, err := c.SubmitOrderCommitment(context.Background(), payload, nil)
			wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
			if a.Evidence.ReusedConn != (i > 0) {
				t.Errorf("%s, call %d: ReusedConn = %v", scheme, i, a.Evidence.ReusedConn)
			}
		}
		c.Close()
		p.mu.Lock()
		if len(p.asked) != 1 || !strings.HasPrefix(p.asked[0], "CONNECT "+s.Listener.Addr().String()+" Basic ") {
			t.Errorf("%s: the proxy was asked %q", scheme, p.asked)
		}
		if text := p.passed.String(); len(text) == 0 || strings.Contains(text, testKey) ||
			strings.Contains(text, "POST") {
			t.Errorf("%s: the tunnel carries plain text: %q", scheme, text)
		}
		p.mu.Unlock()
	}
	s.Close()
	if len(*protos) != 6 {
		t.Errorf("%d requests arrived", len(*protos))
	}
}

// An answer that opens a tunnel has no body, whatever its headers say.
func TestAnAnswerThatOpensATunnelHasNoBody(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	s, _ := startTLS(t, ca.issue(t, nil), nil)
	for _, more := range []string{"Transfer-Encoding: chunked\r\n", "Content-Length: 5\r\n"} {
		p := startProxy(t, &connectProxy{more: more}, nil)
		c := newClient(t, apiclient.Settings{
			BaseURL: s.URL, CAFile: ca.file, Proxy: p.url("http", proxyUser, proxyPassword), Timeout: 5 * overSoon,
		})
		a, err := c.SubmitOrderCommitment(context.Background(), payload, nil)
		wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
	}
}

// A tunnel that does not come about is proof that nothing was sent; the text says who can help, and
// shows no password.
func TestAProxyThatOpensNoTunnelIsProofThatNothingWasSent(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	s, protos := startTLS(t, ca.issue(t, nil), nil)
	for name, c := range map[string]struct {
		instead  string
		password string
		base     string
		https    bool
		addr     string
		want     string
	}{
		"a wrong password": {password: "wröng:" + proxyPassword, want: "refuses those of api.proxy (407)"},
		"forbidden": {
			instead: "HTTP/1.1 403 Forbidden\r\n\r\n" + proxyPassword, want: "(403); whoever runs it must allow that",
		},
		"the platform is not reached": {base: "https://127.0.0.1:1", want: "did not reach 127.0.0.1:1 (502)"},
		"it closes":                   {instead: "HTTP/1.1 200", want: "closed the connection"},
		"it is no proxy":              {instead: "SSH-2.0-OpenSSH_9.2\r\n\r\n", want: "does not answer as a proxy"},
		"it speaks first": {
			instead: "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 201 Created\r\n\r\n", want: "cannot be used",
		},
		"it answers 204":    {instead: "HTTP/1.1 204 No Content\r\n\r\n", want: "(204)"},
		"it speaks no TLS":  {https: true, want: "closed the connection"},
		"nobody is there":   {addr: "127.0.0.1:1", want: "the proxy 127.0.0.1:1 refused the connection"},
		"it does not exist": {addr: "proxy.invalid:3128", want: "the proxy proxy.invalid:3128 was not found; check api.proxy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startProxy(t, &connectProxy{instead: c.instead}, nil)
			if c.addr != "" {
				p = &connectProxy{addr: c.addr}
			}
			scheme, password, base := "http", proxyPassword, s.URL
			if c.https {
				scheme = "https"
			}
			if c.password != "" {
				password = c.password
			}
			if c.base != "" {
				base = c.base
			}
			client := newClient(t, apiclient.Settings{
				BaseURL: base, CAFile: ca.file, Proxy: p.url(scheme, proxyUser, password),
			})
			a, err := client.SubmitOrderCommitment(context.Background(), payload, nil)
			wantKnown(t, a, err, apiclient.NotSent, apiclient.FaultNetwork)
			text := fmt.Sprintf("%v %+v %+v %v", err, err, a, client)
			if !strings.Contains(a.Evidence.Err, c.want) {
				t.Errorf("%q does not say %q", a.Evidence.Err, c.want)
			}
			for _, secret := range []string{
				proxyPassword, url.QueryEscape(proxyPassword), base64.StdEncoding.EncodeToString([]byte(proxyUser)),
			} {
				if strings.Contains(text, secret) {
					t.Errorf("the password of the proxy is shown: %s", text)
				}
			}
		})
	}
	t.Cleanup(func() {
		if len(*protos) != 0 {
			t.Errorf("requests arrived: %v", *protos)
		}
	})
}

func TestAProxyThatSaysNothingIsGivenUpWithTheCall(t *testing.T) {
	t.Parallel()
	addr, end := accept(t, func(c *net.TCPConn) { _, _ = io.Copy(io.Discard, c) })
	t.Cleanup(end)
	c := newClient(t, apiclient.Settings{
		BaseURL: "https://127.0.0.1:1", Proxy: apiclient.Secret("http://" + addr),
	})
	ctx, cancel := context.WithTimeout(context.Background(), overSoon)
	defer cancel()
	a, err := c.SubmitOrderCommitment(ctx, payload, nil)
	wantKnown(t, a, err, apiclient.NotSent, apiclient.FaultTimeout)
}

func TestAWrongAddressOfAProxyIsRefusedWithoutShowingIt(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"proxy.example.com:3128":             "scheme, a host and a port",
		"http://:3128":                       "scheme, a host and a port",
		"socks5://proxy.example.com:1080":    "scheme, a host and a port",
		"http://coop:hunter2%zz@proxy:3128":  "with %-escapes",
		"http://coop:hunter2@proxy:3128/x":   "must end after the port",
		"http://coop:hunter2@proxy:3128?a=b": "must end after the port",
	} {
		_, err := apiclient.New(apiclient.Settings{
			BaseURL: "https://api.example.com", APIKey: testKey, Proxy: apiclient.Secret(address),
		})
		if err == nil || !strings.Contains(err.Error(), "api.proxy: ") || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
	_, err := apiclient.New(apiclient.Settings{
		BaseURL: "http://127.0.0.1:8080", APIKey: testKey, Proxy: "http://proxy.example.com:3128",
	})
	if err == nil || !strings.Contains(err.Error(), "does not apply to an api.base_url on this host") {
		t.Errorf("a proxy for loopback: %v", err)
	}
	must.Do(t, apiclient.CheckProxy("https://coop:p%40ss@proxy.example.com:3128/"))
	must.Do(t, apiclient.CheckProxy("http://proxy.example.com")) // port 80
}
