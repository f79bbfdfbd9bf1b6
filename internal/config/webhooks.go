package config

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/safrasync/safrasync/apiclient"
	inbound "github.com/safrasync/safrasync/internal/receiver"
	"github.com/safrasync/safrasync/trade"
)

// WebhooksConfig is which events the platform sends, to which address, and where the daemon
// receives them.
type WebhooksConfig struct {
	PublicURL  string   `yaml:"public_url"`  // required; check removes a slash at its end
	Events     []string `yaml:"events"`      // required; names of chapter 6, or all
	Listen     string   `yaml:"listen"`      // required; address and port
	CertFile   string   `yaml:"cert_file"`   // optional: without it a proxy does TLS
	KeyFile    string   `yaml:"key_file"`    // required with cert_file
	Proxies    []string `yaml:"proxies"`     // addresses or networks; default: this host
	HMACSecret Secret   `yaml:"hmac_secret"` // optional
	// the working time after which people are told that no event came; 0 = never
	Silence time.Duration `yaml:"-"`
}

// Used reports whether webhooks are configured.
func (w WebhooksConfig) Used() bool { return w.Listen != "" }

const (
	allEvents     = "all"
	maxHookURL    = 250 // chapter 8
	maxHookSecret = 120 // chapter 8
)

func (c *Config) checkWebhooks(d *Decoder) {
	w := &c.Webhooks
	if _, there := c.index["webhooks"]; !there {
		return
	}
	w.Silence = 7 * day
	d.Require("webhooks", map[string]bool{
		"public_url": w.PublicURL == "", "listen": w.Listen == "",
		"events": len(w.Events) == 0,
	})
	w.PublicURL = strings.TrimRight(w.PublicURL, "/")
	if w.PublicURL != "" && !d.faulty("webhooks.public_url") {
		secret := len(inbound.NewLogin().Path)
		if why := wrongBaseURL(w.PublicURL); why != nil {
			d.Fault("webhooks.public_url", "%w", why)
		} else if n := len(utf16.Encode([]rune(w.PublicURL))) + secret; n > maxHookURL {
			d.Fault("webhooks.public_url",
				"is too long: with the secret path it has %d characters, and the platform takes %d", n, maxHookURL)
		}
	}
	events := append([]string{allEvents}, trade.Map(apiclient.WebhookEvents,
		func(event apiclient.WebhookEvent) string { return string(event) })...)
	for i, name := range w.Events {
		path := fmt.Sprintf("webhooks.events[%d]", i)
		switch {
		case d.faulty(path):
		case name == allEvents && len(w.Events) > 1:
			d.Fault(path, "all cannot be combined with others: it means every event")
		case !slices.Contains(events, name):
			d.Fault(path, "%w", UnknownName("unknown event %s", name, events))
		case slices.Contains(w.Events[:i], name):
			d.Fault(path, "stands twice")
		}
	}
	c.checkHookListener(d)
	if !w.HMACSecret.IsZero() && !d.faulty("webhooks.hmac_secret") {
		switch {
		case !reference.MatchString(w.HMACSecret.written):
			d.Fault("webhooks.hmac_secret", "must not stand in the file: write ${env:NAME} or ${file:PATH}")
		case len(utf16.Encode([]rune(w.HMACSecret.value))) > maxHookSecret:
			d.Fault("webhooks.hmac_secret", "is too long: the platform takes %d characters", maxHookSecret)
		}
	}
}

// checkHookListener requires that a listener without TLS is on loopback, or that its proxies are
// named.
func (c *Config) checkHookListener(d *Decoder) {
	w := &c.Webhooks
	host, port, ok := hostAndPort(w.Listen)
	at := "webhooks.listen"
	switch {
	case w.Listen == "" || d.faulty(at):
	case !ok:
		d.Fault(at, "must be an address and a port, as in 127.0.0.1:8443")
	case host == "":
		d.Fault(at, "names no address; write 127.0.0.1:%s for a proxy on this host, or 0.0.0.0:%s for every host that reaches it", port, port)
	case w.CertFile == "" && len(w.Proxies) == 0 && !IsLoopback(host):
		d.Fault(at,
			"is open to other hosts without TLS: give cert_file and key_file, or name the proxy that does TLS under proxies, or listen on 127.0.0.1")
	}
	for i, p := range w.Proxies {
		if _, err := ProxyPrefix(p); err != nil {
			d.Fault(fmt.Sprintf("webhooks.proxies[%d]", i),
				"must be an address or a network, as in 10.0.0.5 or 10.0.0.0/28; not more than a /8, or a /32 of IPv6: whoever is in it may name any address as that of the sender")
		}
	}
	if (w.CertFile == "") != (w.KeyFile == "") {
		d.Fault("webhooks."+map[bool]string{true: "key_file", false: "cert_file"}[w.CertFile == ""],
			"cert_file and key_file go together")
		return
	}
	w.CertFile = c.checkCAFile(d, "webhooks.cert_file", w.CertFile)
	if w.KeyFile == "" {
		return
	}
	w.KeyFile = c.resolvePath(w.KeyFile)
	if _, err := os.Stat(w.KeyFile); err != nil {
		d.Fault("webhooks.key_file", "cannot be read: %w", PlainReason(err))
	}
	d.checkKeyFile("webhooks.key_file", w.KeyFile)
}

// checkKeyFile records a fault for a private key that everybody on this host can read.
func (d *Decoder) checkKeyFile(at, path string) {
	if info, err := os.Stat(path); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o007 != 0 {
		d.Fault(at, "can be read by everybody on this host: chmod o= %s", path)
	}
}

// ProxyPrefix parses the address or the network of a proxy, which must not be half of the world.
func ProxyPrefix(text string) (netip.Prefix, error) {
	if p, err := netip.ParsePrefix(text); err == nil {
		least := 8
		if p.Addr().Is6() {
			least = 32
		}
		if p.Bits() < least || p.Addr().Is4In6() {
			return netip.Prefix{}, errors.New("the network is too large")
		}
		return p.Masked(), nil
	}
	at, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, err
	}
	return netip.PrefixFrom(at.Unmap(), at.Unmap().BitLen()), nil
}

// EventNames returns the configured events in the order of chapter 6.
func (w WebhooksConfig) EventNames() []apiclient.WebhookEvent {
	var out []apiclient.WebhookEvent
	for _, e := range apiclient.WebhookEvents {
		if slices.Contains(w.Events, allEvents) || slices.Contains(w.Events, string(e)) {
			out = append(out, e)
		}
	}
	return out
}
