package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/safrasync/safrasync/internal/httpapi"
)

// HTTPAPIConfig says where other programs order runs and ask for the status, and which ones may.
type HTTPAPIConfig struct {
	Listen    string       `yaml:"listen"`     // required: address and port
	CertFile  string       `yaml:"cert_file"`  // PEM, with the chain; required for other hosts
	KeyFile   string       `yaml:"key_file"`   // required with cert_file
	Tokens    TokensConfig `yaml:"tokens"`     // required
	RateLimit float64      `yaml:"rate_limit"` // requests a second, of a token and of an address
}

// TokensConfig are the programs that may ask.
type TokensConfig []TokenConfig

// TokenConfig is one program.
type TokenConfig struct {
	Name   string   `yaml:"name"`   // required: in the audit it says who
	Token  Secret   `yaml:"token"`  // required: a reference
	Scopes []string `yaml:"scopes"` // required: run, status
}

// used tells whether other programs may ask.
func (h HTTPAPIConfig) used() bool { return h.Listen != "" }

// The bounds of http_api.
const (
	defaultHTTPRate = 1.0
	mostHTTPRate    = 100.0
	mostTokens      = 64
)

var tokenName = regexp.MustCompile(`^[\p{L}\p{N}][\p{L}\p{N}._-]{0,63}$`)

// decodeConfig reads the list of tokens.
func (t *TokensConfig) decodeConfig(d *configDecoder, e configEntry) {
	if !e.isList() || len(e.items) == 0 {
		d.fault(e.path, "must be a list, as in [{name: erp, token: \"${env:ERP_TOKEN}\", scopes: [run]}]")
		return
	}
	for _, item := range e.items {
		var token TokenConfig
		d.structure(item, &token)
		*t = append(*t, token)
	}
}

// shown is what `config show` prints.
func (t TokensConfig) shown() string {
	items := make([]string, len(t))
	for i, token := range t {
		items[i] = fmt.Sprintf("{name: %s, token: %s, scopes: [%s]}", yamlText(token.Name),
			yamlText(token.Token.shown()), strings.Join(token.Scopes, ", "))
	}
	return "[" + strings.Join(items, ", ") + "]"
}

func (c *Config) checkHTTPAPI(d *configDecoder) {
	h := &c.HTTPAPI
	if _, there := c.index["http_api"]; !there {
		return
	}
	d.require("http_api", map[string]bool{"listen": h.Listen == "", "tokens": len(h.Tokens) == 0})
	if !d.given["http_api.rate_limit"] {
		h.RateLimit = defaultHTTPRate
	} else if h.RateLimit <= 0 || h.RateLimit > mostHTTPRate {
		d.fault("http_api.rate_limit", "must be above 0 and at most 100, in requests a second")
	}
	if len(h.Tokens) > mostTokens {
		d.fault("http_api.tokens", fmt.Sprintf("has more than %d tokens", mostTokens))
	}
	for i := range h.Tokens {
		h.checkToken(d, i)
	}
	c.checkHTTPListener(d)
}

func (h *HTTPAPIConfig) checkToken(d *configDecoder, i int) {
	token, at := h.Tokens[i], fmt.Sprintf("http_api.tokens[%d]", i)
	d.require(at, map[string]bool{
		"name": token.Name == "", "token": token.Token.IsZero(), "scopes": len(token.Scopes) == 0,
	})
	before := h.Tokens[:i]
	switch {
	case token.Name == "" || d.faulty(at+".name"):
	case !tokenName.MatchString(token.Name):
		d.fault(at+".name", "must be letters, digits, dots, hyphens and underscores, 64 at most: erp-botao")
	case slices.ContainsFunc(before, func(o TokenConfig) bool { return o.Name == token.Name }):
		d.fault(at+".name", "stands twice")
	}
	switch value := token.Token.Reveal(); {
	case token.Token.IsZero() || d.faulty(at+".token"):
	case !environmentOrFile.MatchString(token.Token.written):
		d.fault(at+".token", "must not stand in the file: write ${env:NAME} or ${file:PATH}")
	case d.secrets.placeholder: // it is not at hand
	case utf8.RuneCountInString(value) < httpapi.LeastToken || !headerSafe(value) || strings.Contains(value, " "):
		d.fault(at+".token", fmt.Sprintf(
			"must be at least %d characters of ASCII without blanks; openssl rand -hex 32 makes one",
			httpapi.LeastToken))
	case slices.ContainsFunc(before, func(o TokenConfig) bool { return o.Token.Reveal() == value }):
		d.fault(at+".token", "is that of another name: each program has its own")
	}
	for j, scope := range token.Scopes {
		path := fmt.Sprintf("%s.scopes[%d]", at, j)
		if !d.faulty(path) && !slices.Contains(httpapi.Scopes, httpapi.Scope(scope)) {
			d.fault(path, unknownName("scope", scope, texts(httpapi.Scopes)))
		}
	}
}

// checkHTTPListener holds a listener without TLS to this host: the token travels in each request.
func (c *Config) checkHTTPListener(d *configDecoder) {
	h := &c.HTTPAPI
	if (h.CertFile == "") != (h.KeyFile == "") {
		d.fault("http_api.cert_file", "and key_file belong together: one of them is missing")
	}
	h.CertFile = c.checkCAFile(d, "http_api.cert_file", h.CertFile)
	if h.KeyFile != "" {
		if !filepath.IsAbs(h.KeyFile) {
			h.KeyFile = filepath.Join(filepath.Dir(c.source.name), h.KeyFile)
		}
		d.checkKeyFile("http_api.key_file", h.KeyFile)
	}
	if h.Listen == "" || d.faulty("http_api.listen") {
		return
	}
	host, port, err := net.SplitHostPort(h.Listen)
	if _, portErr := net.LookupPort("tcp", port); err != nil || portErr != nil || port == "" || host == "" {
		d.fault("http_api.listen", "must be an address and a port, as in 127.0.0.1:8090")
		return
	}
	if !isLoopback(host) && h.CertFile == "" {
		d.fault("http_api.listen",
			"is reached from other hosts, and tokens would travel in the open: "+
				"give cert_file and key_file, or write 127.0.0.1:"+port)
	}
}

// tls is how connections are encrypted; nil: they are not.
func (h HTTPAPIConfig) tls() (*tls.Config, error) {
	if h.CertFile == "" {
		return nil, nil //nolint:nilnil // no certificate is no error
	}
	certificate := &certificate{cert: h.CertFile, key: h.KeyFile}
	if _, err := certificate.get(nil); err != nil {
		return nil, errors.Join(errors.New("http_api.cert_file: cannot be used with key_file"), err)
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, GetCertificate: certificate.get,
	}, nil
}
