package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/safrasync/safrasync/trade"
)

// EventsConfig are the programs that are told of changes.
type EventsConfig []EventConfig

// EventConfig is one program that is told of changes, each with a signed POST.
type EventConfig struct {
	Name    string        `yaml:"name"`    // required: under it the ledger keeps what it has not been told
	URL     Secret        `yaml:"url"`     // required
	Secret  Secret        `yaml:"secret"`  // required: signs each event
	Kinds   []string      `yaml:"kinds"`   // default: all
	Jobs    []string      `yaml:"jobs"`    // default: all
	CAFile  string        `yaml:"ca_file"` // optional
	Proxy   Secret        `yaml:"proxy"`   // default: HTTPS_PROXY of the environment
	Timeout time.Duration `yaml:"timeout"`
}

// The limits of events.
const (
	mostEventTargets     = 8
	leastEventSecret     = 32
	defaultEventsTimeout = 30 * time.Second
)

// Targets returns the programs as the ledger knows them.
func (e EventsConfig) Targets() []trade.EventTarget {
	out := make([]trade.EventTarget, len(e))
	for i, t := range e {
		out[i] = trade.EventTarget{Name: t.Name, Kinds: t.Kinds, Jobs: t.Jobs}
	}
	return out
}

// Decode reads the list of programs.
func (e *EventsConfig) Decode(d *Decoder, entry Entry) {
	if !entry.IsList() || len(entry.Items) == 0 {
		d.Fault(entry.Path, "must be a list, as in [{name: erp, url: \"${env:ERP_EVENTS}\", secret: \"${env:ERP_SECRET}\"}]")
		return
	}
	for _, item := range entry.Items {
		target := EventConfig{Timeout: defaultEventsTimeout}
		d.Structure(item, &target)
		*e = append(*e, target)
	}
}

// shown returns the value that `config show` prints.
func (e EventsConfig) shown() string {
	items := make([]string, len(e))
	for i, t := range e {
		parts := []string{
			"name: " + YAMLText(t.Name), "url: " + YAMLText(t.URL.shown()), "secret: " + YAMLText(t.Secret.shown()),
		}
		for name, list := range map[string][]string{"kinds": t.Kinds, "jobs": t.Jobs} {
			if len(list) > 0 {
				parts = append(parts, name+": ["+strings.Join(list, ", ")+"]")
			}
		}
		slices.Sort(parts[3:])
		if t.CAFile != "" {
			parts = append(parts, "ca_file: "+YAMLText(t.CAFile))
		}
		if !t.Proxy.IsZero() {
			parts = append(parts, "proxy: "+YAMLText(t.Proxy.shown()))
		}
		items[i] = "{" + strings.Join(append(parts, "timeout: "+t.Timeout.String()), ", ") + "}"
	}
	return "[" + strings.Join(items, ", ") + "]"
}

func (c *Config) checkEvents(d *Decoder) {
	if len(c.Events) > mostEventTargets {
		d.Fault("events", "has more than %d programs", mostEventTargets)
	}
	for i := range c.Events {
		c.checkEventTarget(d, i)
	}
}

func (c *Config) checkEventTarget(d *Decoder, i int) {
	t, at := &c.Events[i], fmt.Sprintf("events[%d]", i)
	d.Require(at, map[string]bool{"name": t.Name == "", "url": t.URL.IsZero(), "secret": t.Secret.IsZero()})
	switch {
	case t.Name == "" || d.faulty(at+".name"):
	case !tokenName.MatchString(t.Name), utf8.RuneCountInString(t.Name) > longestName:
		d.Fault(at+".name", "must be letters, digits, dots, hyphens and underscores, 64 at most: erp-botao")
	case slices.ContainsFunc(c.Events[:i], func(o EventConfig) bool { return o.Name == t.Name }):
		d.Fault(at+".name", "stands twice")
	}
	u, err := url.Parse(t.URL.Reveal())
	switch {
	case t.URL.IsZero() || d.faulty(at+".url") || d.secrets.placeholder:
	case err != nil || u.Hostname() == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http":
		d.Fault(at+".url", "does not resolve to an address that begins with https://")
	case u.RawQuery != "" && !reference.MatchString(t.URL.written):
		d.Fault(at+".url", "has a part behind ? that may be a secret: write ${env:NAME} or ${file:PATH}")
	case u.Scheme == "http" && !isNear(u.Hostname()):
		d.Fault(at+".url",
			"must begin with https://; http:// is for this host and for private addresses (10., 172.16. to 31., 192.168.)")
	}
	switch {
	case t.Secret.IsZero() || d.faulty(at+".secret"):
	case !EnvironmentOrFile.MatchString(t.Secret.written):
		d.Fault(at+".secret", "must not stand in the file: write ${env:NAME} or ${file:PATH}")
	case d.secrets.placeholder: // the real value is not available
	case utf8.RuneCountInString(t.Secret.Reveal()) < leastEventSecret:
		d.Fault(at+".secret", "must be at least %d characters; openssl rand -hex 32 makes one", leastEventSecret)
	}
	kinds := make([]string, len(trade.EventKinds))
	for j, kind := range trade.EventKinds {
		kinds[j] = string(kind)
	}
	for j, kind := range t.Kinds {
		if path := fmt.Sprintf("%s.kinds[%d]", at, j); !d.faulty(path) && !slices.Contains(kinds, kind) {
			d.Fault(path, "%w", UnknownName("unknown event %s", kind, kinds))
		}
	}
	jobs := make([]string, len(c.Jobs))
	for j := range c.Jobs {
		jobs[j] = c.Jobs[j].Name
	}
	for j, job := range t.Jobs {
		if path := fmt.Sprintf("%s.jobs[%d]", at, j); !d.faulty(path) && !slices.Contains(jobs, job) {
			d.Fault(path, "%w", UnknownName("unknown job %s", job, jobs))
		}
	}
	between(d, at+".timeout", t.Timeout, time.Second, 2*time.Minute)
	t.CAFile = c.checkCAFile(d, at+".ca_file", t.CAFile)
	d.checkProxy(at+".proxy", t.Proxy)
}
