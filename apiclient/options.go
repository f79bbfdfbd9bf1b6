package apiclient

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
)

const (
	// defaultTimeout is long on purpose: a time-out that is too short leaves a row in doubt and
	// costs a person time.
	defaultTimeout   = 120 * time.Second
	defaultMaxConns  = 8
	defaultUserAgent = "safrasync"
)

// Settings configures a [Client]. The names in brackets are the configuration keys, which [New] uses
// in its errors.
type Settings struct {
	// BaseURL [api.base_url] is the address to which the paths of the API are appended. It must be
	// https; http is accepted for loopback only. It may have a path prefix, but no user, query or
	// fragment.
	BaseURL string
	// APIKey [api.api_key] is sent in the Authorization header as it is, without a scheme (chapter
	// 5). Surrounding blanks and line ends are removed, because key files end with a line end.
	APIKey Secret
	// Timeout [api.timeout] bounds one request as a whole, from the dial to the last byte of the
	// answer. It does not include the wait for one of the limits below, which only the caller's
	// context bounds. 0 means 120 s.
	Timeout time.Duration
	// CAFile [api.ca_file] is an optional PEM bundle trusted in addition to the certificates of
	// this host.
	CAFile string
	// Proxy [api.proxy] is the address of an HTTP proxy through which every connection is tunnelled
	// with CONNECT, as in http://user:password@proxy.example.com:3128. Empty means none; a proxy of
	// the environment is never used.
	Proxy Secret
	// UserAgent is sent as it is. Empty means "safrasync".
	UserAgent string
	// MaxConns [api.max_in_flight] is the expected number of requests in flight; that many idle
	// connections are kept. 0 means 8. It is not a limit.
	MaxConns int
	// Pace [api.rate_limit] is the rate limit, which several clients of a program may share; nil
	// means none. The document names no limit (chapter 8).
	Pace *Pace
	// Observe is called after each request that was made or failed to be made; it serves metrics.
	// It must return at once and be safe for concurrent use. nil means no observer.
	Observe func(Observation)
	// Dial opens the connections in place of TCP; nil means TCP. A simulation uses it to connect
	// client and server through pipes in memory, with a clock of its own.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Once makes GET, PUT and DELETE leave once, like a POST, for callers that do their own
	// repetition.
	Once bool
}

func checkBaseURL(s string) (*url.URL, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return nil, errors.New("missing; give the address of the API, such as https://api.example.com")
	}
	u, err := url.Parse(s)
	if err != nil {
		// The error of url.Parse quotes the whole text, which may contain a password.
		return nil, errors.New("not a valid URL; give an address such as https://api.example.com")
	}
	host := u.Hostname()
	switch {
	case u.User != nil:
		return nil, errors.New("must not contain a user or password; the key belongs in api.api_key")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New("must begin with https://")
	case host == "" || u.Opaque != "":
		return nil, errors.New("has no host name; give an address such as https://api.example.com")
	case u.RawQuery != "" || u.ForceQuery:
		return nil, errors.New("must not contain a query (the part from ? on)")
	case u.Fragment != "" || strings.Contains(s, "#"):
		return nil, errors.New("must not contain a fragment (the part from # on)")
	// the dialer checks the address again, because the resolver may disagree about "localhost"
	case u.Scheme == "http" && !strings.EqualFold(host, "localhost") && !net.ParseIP(host).IsLoopback():
		return nil,
			phrase.Errorf("http:// is accepted for this host only (localhost, 127.0.0.1), not for %q: use https://", host)
	}
	for part := range strings.SplitSeq(u.Path, "/") {
		if part == "." || part == ".." {
			return nil, errors.New("must not contain . or .. in its path")
		}
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = strings.TrimRight(u.RawPath, "/")
	return u, nil
}

// checkKey trims the key and refuses characters that a header cannot hold. Without this check every
// single row would fail with "invalid header field value".
func checkKey(key string) (string, error) {
	key = strings.TrimSpace(key)
	if key == "" {
		return "", errors.New("missing; give the API key of the cooperative, such as ${env:SAFRASYNC_API_KEY}")
	}
	for i, r := range key {
		switch {
		case r < ' ' || r == 0x7f:
			return "",
				phrase.Errorf(
					"contains a control character (code %d) at position %d; the key is one line, check its file or variable", r, i+1)
		case r > 0x7e:
			return "",
				phrase.Errorf(
					"contains a character outside ASCII at position %d; it was probably damaged when it was copied",
					i+1)
		}
	}
	return key, nil
}

func loadRoots(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, phrase.Errorf("cannot be read: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		// A machine without certificates of its own: only those of the file are trusted.
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, phrase.Errorf("%s holds no certificate; it must be PEM (-----BEGIN CERTIFICATE-----)", file)
	}
	return pool, nil
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// Observation is what an observer may know of a request: no path, body, header or key, and nothing
// of the record (I10).
type Observation struct {
	Operation string // "create order commitment", from a closed set
	Status    int    // 0 when no complete answer came
	// Outcome is the name of Known; "answered" after a good answer to a request that creates
	// nothing.
	Outcome string
	Took    time.Duration // from its admission to the end of the answer
}
