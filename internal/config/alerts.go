package config

import (
	"net"
	netmail "net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/safrasync/safrasync/sync/clock"
)

const day = 24 * time.Hour

// AlertsConfig is what people are alerted to, and how. Without email and webhook no alert is sent.
type AlertsConfig struct {
	Name          string         `yaml:"name"`           // name of this installation
	RejectedAbove int            `yaml:"rejected_above"` // rejected rows of one job
	NothingNew    time.Duration  `yaml:"nothing_new"`    // working time; 0 = never
	BackupOlder   time.Duration  `yaml:"backup_older"`   // 0 = never
	Digest        string         `yaml:"digest"`         // a schedule, or off
	Email         *EmailConfig   `yaml:"email"`          // optional
	Webhook       *WebhookConfig `yaml:"webhook"`        // optional
	Heartbeat     Secret         `yaml:"heartbeat"`      // optional: the address that a monitor elsewhere waits for
}

// EmailConfig is the mail server and the addresses for alerts.
type EmailConfig struct {
	Server   string   `yaml:"server"`   // required; host:port
	Security string   `yaml:"security"` // starttls, tls or none
	User     string   `yaml:"user"`     // optional
	Password Secret   `yaml:"password"` // required with user
	From     string   `yaml:"from"`     // required
	To       []string `yaml:"to"`       // required
}

// WebhookConfig is a chat, or another program, that gets alerts.
type WebhookConfig struct {
	URL   Secret `yaml:"url"`   // required
	Form  string `yaml:"form"`  // slack, teams, telegram, pagerduty or json
	Chat  string `yaml:"chat"`  // the chat of telegram; required there
	Key   Secret `yaml:"key"`   // the integration key of pagerduty; required there
	Proxy Secret `yaml:"proxy"` // default: HTTPS_PROXY of the environment
}

// OldestWaiting is the working time after which people are told that a row waits.
const OldestWaiting = 2 * day

// NoDigest is the value of alerts.digest that turns the digest off.
const NoDigest = "off"

func (c *Config) checkAlerts(d *Decoder) {
	a := &c.Alerts
	between(d, "alerts.rejected_above", a.RejectedAbove, 0, 1_000_000)
	between(d, "alerts.nothing_new", a.NothingNew, 0, 365*day)
	between(d, "alerts.backup_older", a.BackupOlder, 0, 365*day)
	if strings.ContainsAny(a.Name, "\r\n") {
		d.Fault("alerts.name", "must be one line")
	}
	if a.Digest != NoDigest && !d.faulty("alerts.digest") {
		if _, err := clock.ParseSchedule(a.Digest, c.zone); err != nil {
			d.Fault("alerts.digest", "%w; or write off", err)
		}
	}
	for i := range c.Jobs {
		path := "jobs." + c.Jobs[i].Name + ".nothing_new"
		if !d.Given[path] {
			c.Jobs[i].NothingNew = a.NothingNew
		}
		between(d, path, c.Jobs[i].NothingNew, 0, 365*day)
	}
	if a.Email != nil {
		const at = "alerts.email"
		d.Require(at, map[string]bool{
			"server": a.Email.Server == "", "from": a.Email.From == "", "to": len(a.Email.To) == 0,
			"password": a.Email.User != "" && a.Email.Password.IsZero(),
		})
		d.OneOf(at+".security", a.Email.Security, "starttls", "tls", "none")
		host, _, ok := a.Email.Place()
		switch {
		case a.Email.Server == "" || d.faulty(at+".server"):
		case !ok:
			d.Fault(at+".server", "must be a host and a port, as in smtp.example.com:587")
		case a.Email.Security == "none" && !IsLoopback(host):
			d.Fault(at+".security",
				"none is for a server on this host only (127.0.0.1, ::1, localhost); use starttls or tls")
		}
		if !a.Email.Password.IsZero() && !reference.MatchString(a.Email.Password.written) {
			d.Fault(at+".password",
				"must not stand in the file: write ${env:NAME} or ${file:PATH} (and change a password that others have seen)")
		}
		if _, err := netmail.ParseAddress(a.Email.From); a.Email.From != "" && (err != nil || strings.ContainsAny(a.Email.From, "\r\n")) {
			d.Fault(at+".from", "is not an address, as in safrasync@example.com")
		}
		for i, address := range a.Email.To {
			parsed, err := netmail.ParseAddress(address)
			if err != nil || parsed.Name != "" || parsed.Address != address {
				d.Fault(at+".to", "number %d is not an address, as in ana@example.com", i+1)
			} else if slices.Contains(a.Email.To[:i], address) {
				d.Fault(at+".to", "number %d is in the list already", i+1)
			}
		}
	}
	if a.Webhook != nil {
		const at = "alerts.webhook"
		d.Require(at, map[string]bool{
			"url": a.Webhook.URL.IsZero(), "chat": a.Webhook.Form == "telegram" && a.Webhook.Chat == "",
			"key": a.Webhook.Form == "pagerduty" && a.Webhook.Key.IsZero(),
		})
		d.OneOf(at+".form", a.Webhook.Form, "slack", "teams", "telegram", "pagerduty", "json")
		if a.Webhook.Form != "telegram" && a.Webhook.Chat != "" {
			d.Fault(at+".chat", "is for form: telegram only")
		}
		if a.Webhook.Form != "pagerduty" && !a.Webhook.Key.IsZero() {
			d.Fault(at+".key", "is for form: pagerduty only")
		}
		if !a.Webhook.Key.IsZero() && !reference.MatchString(a.Webhook.Key.written) {
			d.Fault(at+".key",
				"must not stand in the file, because who has it can call people: write ${env:NAME} or ${file:PATH}")
		}
		near := IsLoopback
		if a.Webhook.Form == "json" { // a program of the own network
			near = isNear
		}
		switch fault := d.secretURL(at+".url", a.Webhook.URL, near); {
		case fault == urlInFile && a.Webhook.Form == "pagerduty": // all its customers have the same address
		case fault == urlInFile:
			d.Fault(at+".url",
				"must not stand in the file, because who has it can write into the channel: write ${env:NAME} or ${file:PATH}")
		case fault == urlPlain && a.Webhook.Form == "json":
			d.Fault(at+".url",
				"must begin with https://; http:// is for this host and for private addresses (10., 172.16. to 31., 192.168.)")
		case fault == urlPlain:
			d.Fault(at+".url", "must begin with https://; http:// is for this host only (127.0.0.1, ::1, localhost)")
		}
		d.checkProxy(at+".proxy", a.Webhook.Proxy)
	}
	switch d.secretURL("alerts.heartbeat", a.Heartbeat, isNear) {
	case urlInFile:
		d.Fault("alerts.heartbeat",
			"must not stand in the file, because who has it can say that all is well: write ${env:NAME} or ${file:PATH}")
	case urlPlain:
		d.Fault("alerts.heartbeat",
			"must begin with https://; http:// is for this host and for private addresses (10., 172.16. to 31., 192.168.)")
	}
}

// Place returns the host and the port of the server. ok is false if either is missing or invalid.
func (e *EmailConfig) Place() (host string, port int, ok bool) {
	host, text, err := net.SplitHostPort(e.Server)
	if err != nil || host == "" || strings.ContainsAny(host, "/@ ") {
		return "", 0, false
	}
	port, err = strconv.Atoi(text)
	return host, port, err == nil && port > 0 && port < 1<<16
}

// urlFault is a fault of a secret address.
type urlFault int

const (
	urlInFile urlFault = iota + 1 // it stands in the file
	urlPlain                      // it begins with http:// and is too far away for that
)

// secretURL checks an address that is a secret. http:// is allowed for the hosts of which near is
// true. It reports what every address must keep, and returns what has words of its own.
func (d *Decoder) secretURL(path string, s Secret, near func(host string) bool) urlFault {
	if s.IsZero() || d.faulty(path) {
		return 0
	}
	u, err := url.Parse(s.Reveal())
	switch {
	case !reference.MatchString(s.written):
		return urlInFile
	case err != nil || u.Opaque != "" || u.Hostname() == "" || u.User != nil || u.Scheme != "https" &&
		u.Scheme != "http":
		d.Fault(path, "does not resolve to an address that begins with https://")
	case u.Scheme == "http" && !near(u.Hostname()):
		return urlPlain
	}
	return 0
}

// isNear reports whether host is this host, or a private address of the own network.
func isNear(host string) bool {
	ip := net.ParseIP(host)
	return IsLoopback(host) || ip != nil && ip.IsPrivate()
}
