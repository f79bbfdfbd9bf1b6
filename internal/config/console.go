package config

import (
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

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
