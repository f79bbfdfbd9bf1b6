package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// HTTPAPIConfig is where other programs order runs and read the status, and which programs may.
type HTTPAPIConfig struct {
	Listen   string       `yaml:"listen"`    // required: address and port
	CertFile string       `yaml:"cert_file"` // PEM, with the chain; required for other hosts
	KeyFile  string       `yaml:"key_file"`  // required with cert_file
	Tokens   TokensConfig `yaml:"tokens"`    // required
}

// TokensConfig are the programs that may use the HTTP API.
type TokensConfig []TokenConfig

// TokenConfig is one program.
type TokenConfig struct {
	Name   string   `yaml:"name"`   // required: name in the audit
	Token  Secret   `yaml:"token"`  // required: a reference
	Scopes []string `yaml:"scopes"` // required: run, status
}

// ServesRows reports whether a program may ask for the changes of rows.
func (h HTTPAPIConfig) ServesRows() bool {
	return slices.ContainsFunc(h.Tokens, func(t TokenConfig) bool {
		return slices.Contains(t.Scopes, ScopeRows)
	})
}

// The scopes of a token of the HTTP API.
const (
	ScopeRun    = "run"    // order a run
	ScopeStatus = "status" // read the status
	ScopeRows   = "rows"   // read keys and states of rows
)

var scopes = []string{ScopeRun, ScopeStatus, ScopeRows}

// leastToken is the minimum length of a token, in characters.
const leastToken = 32

const mostTokens = 64

// tokenName is the form of a name, and longestName its length. A length limit in the expression
// would be compiled to 64 copies of the class of all letters, at each start of the program.
var tokenName = regexp.MustCompile(`^[\p{L}\p{N}][\p{L}\p{N}._-]*$`)

const longestName = 64

// Decode reads the list of tokens.
func (t *TokensConfig) Decode(d *Decoder, e Entry) {
	if !e.IsList() || len(e.Items) == 0 {
		d.Fault(e.Path, "must be a list, as in [{name: erp, token: \"${env:ERP_TOKEN}\", scopes: [run]}]")
		return
	}
	for _, item := range e.Items {
		var token TokenConfig
		d.Structure(item, &token)
		*t = append(*t, token)
	}
}

func (c *Config) checkHTTPAPI(d *Decoder) {
	h := &c.HTTPAPI
	if _, there := c.index["http_api"]; !there {
		return
	}
	d.Require("http_api", map[string]bool{"listen": h.Listen == "", "tokens": len(h.Tokens) == 0})
	if len(h.Tokens) > mostTokens {
		d.Fault("http_api.tokens", "has more than %d tokens", mostTokens)
	}
	for i, token := range h.Tokens {
		at := fmt.Sprintf("http_api.tokens[%d]", i)
		d.Require(at, map[string]bool{
			"name": token.Name == "", "token": token.Token.IsZero(), "scopes": len(token.Scopes) == 0,
		})
		before := h.Tokens[:i]
		switch {
		case token.Name == "" || d.faulty(at+".name"):
		case !tokenName.MatchString(token.Name), utf8.RuneCountInString(token.Name) > longestName:
			d.Fault(at+".name", "must be letters, digits, dots, hyphens and underscores, 64 at most: erp-botao")
		case slices.ContainsFunc(before, func(o TokenConfig) bool { return o.Name == token.Name }):
			d.Fault(at+".name", "stands twice")
		}
		switch value := token.Token.Reveal(); {
		case token.Token.IsZero() || d.faulty(at+".token"):
		case !EnvironmentOrFile.MatchString(token.Token.written):
			d.Fault(at+".token", "must not stand in the file: write ${env:NAME} or ${file:PATH}")
		case d.secrets.placeholder: // the real value is not available
		case utf8.RuneCountInString(value) < leastToken || !headerSafe(value) || strings.Contains(value, " "):
			d.Fault(at+".token", "must be at least %d characters of ASCII without blanks; openssl rand -hex 32 makes one", leastToken)
		case slices.ContainsFunc(before, func(o TokenConfig) bool { return o.Token.Reveal() == value }):
			d.Fault(at+".token", "is that of another name: each program has its own")
		}
		for j, scope := range token.Scopes {
			path := fmt.Sprintf("%s.scopes[%d]", at, j)
			if !d.faulty(path) && !slices.Contains(scopes, scope) {
				d.Fault(path, "%w", UnknownName("unknown scope %s", scope, scopes))
			}
		}
	}
	// A listener without TLS is restricted to this host, because each request carries the token.
	if (h.CertFile == "") != (h.KeyFile == "") {
		d.Fault("http_api.cert_file", "and key_file belong together: one of them is missing")
	}
	h.CertFile = c.checkCAFile(d, "http_api.cert_file", h.CertFile)
	if h.KeyFile != "" {
		h.KeyFile = c.resolvePath(h.KeyFile)
		d.checkKeyFile("http_api.key_file", h.KeyFile)
	}
	if h.Listen == "" || d.faulty("http_api.listen") {
		return
	}
	host, port, ok := hostAndPort(h.Listen)
	if !ok || host == "" {
		d.Fault("http_api.listen", "must be an address and a port, as in 127.0.0.1:8090")
		return
	}
	if !IsLoopback(host) && h.CertFile == "" {
		d.Fault("http_api.listen",
			"is reached from other hosts, and tokens would travel in the open: "+
				"give cert_file and key_file, or write 127.0.0.1:%s", port)
	}
}
