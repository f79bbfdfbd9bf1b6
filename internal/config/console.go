package config

import (
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/console/auth"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/trade"
)

// ConsoleConfig is where and how the console is served.
type ConsoleConfig struct {
	Listen   string        `yaml:"listen"`    // address and port; "" = no console
	CertFile string        `yaml:"cert_file"` // PEM with the chain; requires key_file
	KeyFile  string        `yaml:"key_file"`  // PEM
	Behind   string        `yaml:"behind"`    // address or network of the proxy that does TLS
	Hosts    []string      `yaml:"hosts"`     // host names that browsers may use
	Idle     time.Duration `yaml:"idle"`      // how long a login lasts without use
	// the address at which people reach it, for links in alerts; check removes a slash at its end
	PublicURL string      `yaml:"public_url"`
	Name      string      `yaml:"name"` // name of this installation, shown on each page
	CNPJ      string      `yaml:"cnpj"` // of the cooperative, above a printed closing
	OIDC      *OIDCConfig `yaml:"oidc"` // optional

	Environment string `yaml:"environment"` // name of an installation that does not count; "" = it does
}

// LongestLogin is how long a login to the console lasts at most.
const LongestLogin = 12 * time.Hour

// environmentMost is how long the name of an environment may be, so that it fits beside that of the
// installation.
const environmentMost = 30

var hostName = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)

func (c *Config) checkConsole(d *Decoder) {
	o := &c.Console
	c.checkOIDC(d)
	between(d, "console.idle", o.Idle, time.Minute, 8*time.Hour)
	if strings.ContainsAny(o.Name, "\r\n") {
		d.Fault("console.name", "must be one line")
	}
	cnpj := strings.NewReplacer(".", "", "/", "", "-", "").Replace(o.CNPJ)
	if cnpj != "" && !trade.IsCNPJ(cnpj) {
		d.Fault("console.cnpj", "must be a CNPJ, as in %q", "12.345.678/0001-95")
	}
	if strings.ContainsAny(o.Environment, "\r\n") || len([]rune(o.Environment)) > environmentMost {
		d.Fault("console.environment", "must be one line of at most %d characters", environmentMost)
	}
	o.PublicURL = strings.TrimRight(o.PublicURL, "/")
	if o.PublicURL != "" && !d.faulty("console.public_url") {
		if why := wrongBaseURL(o.PublicURL); why != nil {
			d.Fault("console.public_url", "%w", why)
		}
	}
	for i, name := range o.Hosts {
		o.Hosts[i] = strings.ToLower(name)
		if !hostName.MatchString(o.Hosts[i]) {
			if _, err := netip.ParseAddr(name); err != nil {
				d.Fault("console.hosts",
					"number %d is no name of a host, as in safrasync.coop.example, without https:// and without a port", i+1)
			}
		}
	}
	if (o.CertFile == "") != (o.KeyFile == "") {
		d.Fault("console.cert_file", "and key_file belong together: one of them is missing")
	}
	if o.KeyFile != "" {
		d.checkKeyFile("console.key_file", o.KeyFile)
	}
	if _, err := ProxyPrefix(o.Behind); o.Behind != "" && err != nil && !d.faulty("console.behind") {
		d.Fault("console.behind",
			"must be the address of the proxy, as in 127.0.0.1, or its network, as in 10.1.2.0/24; not more than a /8, or a /32 of IPv6: whoever is in it may name any address as that of the browser")
	}
	if o.Listen == "" || d.faulty("console") {
		return
	}
	host, port, ok := hostAndPort(o.Listen)
	if !ok || host == "" {
		d.Fault("console.listen", "must be an address and a port, as in 127.0.0.1:8088")
		return
	}
	// What matters is whether passwords travel unencrypted.
	if !IsLoopback(host) && o.CertFile == "" && o.Behind == "" {
		d.Fault("console.listen",
			"is reached from other hosts, and passwords would travel in the open: give cert_file and key_file, or behind with the address of the proxy that has the certificate; or write 127.0.0.1:%s", port)
		return
	}
	if len(o.Hosts) == 0 && (!IsLoopback(host) || o.Behind != "") {
		d.Fault("console.hosts",
			"is required: the names under which browsers ask for the console, as in [safrasync.coop.example]")
	}
}

// AllHosts returns all host names under which the console answers: the configured ones, and on
// loopback this host's own.
func (o ConsoleConfig) AllHosts() []string {
	out := slices.Clone(o.Hosts)
	host, _, err := net.SplitHostPort(o.Listen)
	if err == nil && IsLoopback(host) {
		out = append(out, "localhost", "127.0.0.1", "::1", strings.ToLower(host))
	}
	return out
}

// OIDCConfig is the OpenID Connect provider with which people may log in to the console, beside
// those who have a password there.
type OIDCConfig struct {
	Issuer       string            `yaml:"issuer"`        // required; exactly as the provider writes it
	ClientID     string            `yaml:"client_id"`     // required
	ClientSecret Secret            `yaml:"client_secret"` // required
	RolesClaim   string            `yaml:"roles_claim"`   // claim that names groups or roles
	Roles        map[string]string `yaml:"roles"`         // required; role by group or role of the claim
}

func (c *Config) checkOIDC(d *Decoder) {
	o := c.Console.OIDC
	if o == nil {
		return
	}
	const at = "console.oidc"
	d.Require(at, map[string]bool{
		"issuer": o.Issuer == "", "client_id": o.ClientID == "",
		"client_secret": o.ClientSecret.IsZero(), "roles": len(o.Roles) == 0,
	})
	if o.Issuer != "" && !d.faulty(at+".issuer") {
		u, err := url.Parse(o.Issuer)
		switch {
		case err != nil || u.Opaque != "" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" ||
			u.Fragment != "" || u.Scheme != "https" && u.Scheme != "http":
			d.Fault(at+".issuer",
				"must be the address of the provider as it writes it itself, as in https://login.example.com/realms/coop, without /.well-known")
		case strings.Contains(u.Path, "/.well-known/"):
			d.Fault(at+".issuer", "must end before /.well-known/, which is added to it")
		case u.Scheme == "http" && !IsLoopback(u.Hostname()):
			d.Fault(at+".issuer", "must begin with https://; http:// is for this host only (127.0.0.1, ::1, localhost)")
		}
	}
	if !o.ClientSecret.IsZero() && !reference.MatchString(o.ClientSecret.written) {
		d.Fault(at+".client_secret",
			"must not stand in the file: write ${env:NAME} or ${file:PATH} (and change a secret that others have seen)")
	}
	for name, text := range map[string]string{"client_id": o.ClientID, "roles_claim": o.RolesClaim} {
		if strings.ContainsAny(text, "\r\n") || len([]rune(text)) > 100 {
			d.Fault(at+"."+name, "must be one line of at most 100 characters")
		}
	}
	for _, name := range SortedKeys(o.Roles) {
		if _, ok := RoleNamed(o.Roles[name]); !ok {
			d.Fault(joinPath(at+".roles", name),
				"must be reader (leitura), accountant (contabilidade) or administrator (administração)")
		}
	}
	if c.Console.Listen == "" {
		d.Fault(at, "needs console.listen: nobody logs in to a console that is not served")
	}
}

// RoleNamed returns a role by its name in English or Portuguese. It returns false for any other
// text.
func RoleNamed(text string) (trade.Role, bool) {
	for _, role := range trade.Roles {
		if strings.EqualFold(text, string(role)) ||
			strings.EqualFold(text, i18n.CLI.Text(i18n.Portuguese, "role."+string(role))) {
			return role, true
		}
	}
	return trade.Administrator, strings.EqualFold(text, "administracao")
}

// OpenID returns the login with the provider, which people know by its host name; nil if none is
// configured. It sends no request.
func (c *Config) OpenID() (*auth.OpenID, error) {
	o := c.Console.OIDC
	if o == nil {
		return nil, nil //nolint:nilnil // no provider is no error
	}
	issuer, err := url.Parse(o.Issuer)
	if err != nil {
		return nil, err
	}
	roots, err := RootsOf(c.API.CAFile)
	if err != nil {
		return nil, err
	}
	options := auth.OpenIDOptions{
		Issuer: o.Issuer, ClientID: o.ClientID, Secret: o.ClientSecret.Reveal(), Label: issuer.Hostname(),
		Roots: roots, Claim: o.RolesClaim, Roles: map[string]trade.Role{},
	}
	for name, text := range o.Roles {
		if role, ok := RoleNamed(text); ok {
			options.Roles[name] = role
		}
	}
	return auth.NewOpenID(options), nil
}
