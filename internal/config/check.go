package config

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// check finds what is wrong beyond types and names, and fills in the defaults that depend on other
// keys.
func (c *Config) check(d *Decoder) {
	c.checkAPI(d)
	d.Require("erp", map[string]bool{"driver": c.ERP.Driver == "", "dsn": c.ERP.DSN.IsZero()})
	if c.ERP.Driver != "" {
		d.OneOf("erp.driver", c.ERP.Driver, erp.Drivers()...)
	}
	if err := erp.CheckCharset(c.ERP.Charset); err != nil && !d.faulty("erp.charset") {
		d.Fault("erp.charset", "is not known; use UTF8, WIN1252, LATIN1, LATIN9, CP850 or CP437")
	}
	d.checkDSN("erp.dsn", c.ERP.DSN)
	between(d, "erp.statement_timeout", c.ERP.StatementTimeout, time.Second, 24*time.Hour)
	zone, err := time.LoadLocation(c.ERP.TimeZone)
	if err != nil || c.ERP.TimeZone == "Local" { // "Local" differs from machine to machine
		if !d.faulty("erp.time_zone") {
			d.Fault("erp.time_zone", "is not a time zone; give one as in America/Sao_Paulo or America/Cuiaba")
		}
		zone = time.UTC
	}
	c.zone = zone
	c.checkState(d)
	c.checkSnippets(d)
	for kind, r := range c.References {
		path := joinPath("references", kind)
		if !slices.Contains(trade.ReferenceKinds, kind) {
			d.Unknown("unknown kind of reference %s", "references", d.Index[path], trade.ReferenceKinds)
			continue
		}
		d.Require(path, map[string]bool{"query": r.Query == "", "code": len(r.Code) == 0, "id": r.ID == ""})
		c.checkQuery(d, path+".query", r.Query)
	}
	for name := range c.Values {
		d.checkName("values", name)
	}
	for name, value := range map[string]string{
		"amount": c.Checks.Amount, "price": c.Checks.Price, "volume": c.Checks.Volume,
		"date_order": c.Checks.DateOrder, "date_window": c.Checks.DateWindow,
	} {
		d.OneOf("checks."+name, value, "error", "warn", "off")
	}
	d.OneOf("checks.car", c.Checks.CAR, "strict", "error", "shape", "warn", "off")
	mode := func(path, of string, to *string, shared string) {
		if _, given := d.Index[path+"."+of]; shared != "" && !given {
			*to = shared
		} else {
			d.OneOf(path+"."+of, *to, string(mapping.TwinHold), "warn", "off")
		}
	}
	mode("checks", "twin", &c.Checks.Twin, "")
	mode("checks", "near_twin", &c.Checks.NearTwin, "")
	between(d, "checks.twin_days", c.Checks.TwinDays, 0, 3650)
	for i := range c.Jobs {
		own, path := &c.Jobs[i].Checks, "jobs."+c.Jobs[i].Name+".checks"
		mode(path, "twin", &own.Twin, c.Checks.Twin)
		mode(path, "near_twin", &own.NearTwin, c.Checks.NearTwin)
		if _, given := d.Index[path+".twin_days"]; given {
			between(d, path+".twin_days", own.TwinDays, 0, 3650)
		} else {
			own.TwinDays = c.Checks.TwinDays
		}
	}
	between(d, "brakes.new_rows", c.Brakes.NewRows, 0, 1000)
	between(d, "brakes.new_rows_least", c.Brakes.NewRowsLeast, 1, 1_000_000)
	between(d, "brakes.retyped", c.Brakes.Retyped, 0, 1_000_000)
	d.OneOf("brakes.changed_key", c.Brakes.ChangedKey, "pause", "off")
	for act, people := range c.Approve.people() {
		between(d, "approve."+act, people, 0, peopleMost)
	}
	between(d, "approve.lapse", c.Approve.Lapse, time.Hour, 30*day)
	d.OneOf("log.level", c.Log.Level, "error", "warn", "info", "debug")
	c.checkAlerts(d)
	r := c.Retention
	if _, err := clock.ParseSchedule(r.Schedule, c.zone); err != nil && !d.faulty("retention.schedule") &&
		c.zone != nil {
		d.Fault("retention.schedule", "%w", err)
	}
	for _, k := range []struct {
		name        string
		keep, least time.Duration
	}{{"bodies", r.Bodies, 30 * day}, {"audit", r.Audit, 366 * day}} {
		if path := "retention." + k.name; k.keep != 0 && k.keep < k.least && !d.faulty(path) {
			d.Fault(path, "must be at least %dd, or 0s for ever", int(k.least/day))
		}
	}
	if c.Language != "" {
		d.OneOf("language", c.Language, "pt-BR", "en")
	}
	c.checkConsole(d)
	c.Metrics.check(d)
	c.checkWebhooks(d)
	c.checkHTTPAPI(d)
	if len(c.Jobs) == 0 && !d.faulty("jobs") {
		d.Fault("jobs", "there must be at least one job; config.example.yaml shows one")
	}
	for _, job := range c.Jobs {
		d.checkName("jobs", job.Name)
		c.checkJob(d, job, "jobs."+job.Name)
	}
	var compiled []*mapping.Job
	for i, spec := range c.JobSpecs() {
		if path := "jobs." + c.Jobs[i].Name; !d.faulty(path) && !d.faulty("values") {
			// the engine finds what only it can see, such as an unknown date format
			job, err := mapping.Compile(spec, c.zone)
			d.specFaults(err)
			if err == nil {
				compiled = append(compiled, job)
			}
		}
	}
	if len(compiled) == len(c.Jobs) {
		_, err := engine.Order(compiled)
		d.specFaults(err)
	}
}

// OneOf reports a fault unless the value is one of those allowed.
func (d *Decoder) OneOf(path, value string, allowed ...string) {
	if !d.faulty(path) && !slices.Contains(allowed, value) {
		d.Fault(path, "must be %s or %s", strings.Join(allowed[:len(allowed)-1], ", "), allowed[len(allowed)-1])
	}
}

// Require reports the required keys that are missing.
func (d *Decoder) Require(path string, missing map[string]bool) {
	var names []string
	for name, is := range missing {
		if at := joinPath(path, name); is && !d.Meant[at] && !d.faulty(at) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		d.Fault(joinPath(path, name), "is required and missing")
	}
}

func (c *Config) checkAPI(d *Decoder) {
	a := &c.API
	d.Require("api", map[string]bool{"base_url": a.BaseURL == "", "api_key": a.APIKey.IsZero()})
	if a.BaseURL != "" {
		if why := wrongBaseURL(a.BaseURL); why != nil {
			d.Fault("api.base_url", "%w", why)
		}
		a.BaseURL = strings.TrimRight(a.BaseURL, "/")
	}
	if !a.APIKey.IsZero() {
		switch {
		case !reference.MatchString(a.APIKey.written):
			d.Fault("api.api_key",
				"must not stand in the file: write ${env:SAFRASYNC_API_KEY} or ${file:/path/to/key} (and change a key that others have seen)")
		case !headerSafe(a.APIKey.value):
			d.Fault("api.api_key",
				"resolves to a text with blanks at its ends or characters that a header cannot carry; look at where the reference points")
		}
	}
	between(d, "api.timeout", a.Timeout, time.Second, 10*time.Minute)
	between(d, "api.max_in_flight", a.MaxInFlight, 1, 256)
	between(d, "api.stop_after_unknown", a.StopAfterUnknown, 0, 1000)
	between(d, "api.rate_limit", a.RateLimit, 0, 1000)
	d.OneOf("api.doubt", a.Doubt, "documented", "strict")
	least := 2*a.Timeout + leaseMargin
	switch {
	case d.faulty("api.timeout"), d.faulty("api.quarantine"):
	case !d.Given["api.quarantine"]:
		a.Quarantine = max(a.Quarantine, least)
	case a.Quarantine < least:
		d.Fault("api.quarantine", "must be at least %s: twice api.timeout and 40 s", shortDuration(least))
	}
	a.CAFile = c.checkCAFile(d, "api.ca_file", a.CAFile)
	d.checkProxy("api.proxy", a.Proxy)
	if !a.Proxy.IsZero() && !d.faulty("api.proxy") && strings.HasPrefix(a.BaseURL, "http://") {
		d.Fault("api.proxy", "does not apply to an api.base_url on this host; remove it")
	}
}

// checkProxy checks the address of a proxy. A password in it must be a reference.
func (d *Decoder) checkProxy(path string, proxy Secret) {
	if proxy.IsZero() || d.faulty(path) {
		return
	}
	if err := apiclient.CheckProxy(proxy.Reveal()); err != nil {
		d.Fault(path, "%w", err)
		return
	}
	if u, err := url.Parse(proxy.Reveal()); err == nil && u.User != nil && !reference.MatchString(proxy.written) {
		d.Fault(path, "has a user and password, which must not stand in the file: "+
			"write the address, or the password in it, as ${env:NAME} or ${file:PATH}")
	}
}

// checkCAFile checks a PEM file and returns its path. A relative path is relative to the folder of
// the configuration.
func (c *Config) checkCAFile(d *Decoder, path, file string) string {
	if file == "" {
		return ""
	}
	file = c.resolvePath(file)
	pem, err := os.ReadFile(file)
	if err != nil {
		d.Fault(path, "cannot be read: %w", PlainReason(err))
	} else if !x509.NewCertPool().AppendCertsFromPEM(pem) {
		d.Fault(path, "has no certificate in PEM form (-----BEGIN CERTIFICATE-----)")
	}
	return file
}

// RootsOf returns the system's certificates plus those in a file. It returns nil without a file,
// which means the system's alone.
func RootsOf(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, phrase.Errorf("ca_file cannot be read: %s", PlainReason(err))
	}
	pool, err := x509.SystemCertPool()
	if err != nil { // the machine has no certificates of its own
		pool = x509.NewCertPool()
	}
	pool.AppendCertsFromPEM(pem) // check has verified that the file contains one
	return pool, nil
}

func between[T int | float64 | time.Duration](d *Decoder, path string, value, least, most T) {
	if (value >= least && value <= most) || d.faulty(path) {
		return
	}
	show := func(v T) string {
		if t, ok := any(v).(time.Duration); ok {
			return shortDuration(t)
		}
		return fmt.Sprint(v)
	}
	d.Fault(path, "must be from %s to %s", show(least), show(most))
}

// wrongBaseURL returns why an address is invalid, or nil. The text does not quote the address, which
// may contain a credential; the errors of url.Parse do.
func wrongBaseURL(text string) *phrase.Text {
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || u.Hostname() == "" {
		return phrase.New("must be an address, as in https://api.example.com")
	}
	switch {
	case u.User != nil:
		return phrase.New("must not hold a user or password; the key belongs in api.api_key")
	case u.RawQuery != "" || u.ForceQuery:
		return phrase.New("must not have a query (?…)")
	case u.Fragment != "" || strings.Contains(text, "#"):
		return phrase.New("must not have a fragment (#…)")
	case strings.ContainsAny(text, " \t"):
		return phrase.New("must not have blanks")
	case u.Scheme == "http" && !IsLoopback(u.Hostname()):
		return phrase.New("must begin with https://; http:// is for this host only (127.0.0.1, ::1, localhost)")
	case u.Scheme != "https" && u.Scheme != "http":
		return phrase.New("must begin with https://")
	}
	return nil
}

// Platform returns base_url in a canonical form, so that the ledger recognises the platform even if
// its address is written differently.
func (a APIConfig) Platform() string {
	u, err := url.Parse(a.BaseURL)
	if err != nil {
		return a.BaseURL
	}
	host, port := strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), u.Port()
	if port == map[string]string{"https": "443", "http": "80"}[u.Scheme] {
		port = ""
	}
	if strings.Contains(host, ":") { // IPv6
		host = "[" + host + "]"
	}
	if port != "" {
		host += ":" + port
	}
	return u.Scheme + "://" + host + strings.TrimRight(u.EscapedPath(), "/")
}

// IsLoopback reports whether a host name or address is this host's loopback.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || (ip != nil && ip.IsLoopback())
}

func headerSafe(value string) bool {
	strange := strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' })
	return !strange && strings.TrimSpace(value) == value
}

func (d *Decoder) checkDSN(path string, dsn Secret) {
	if !dsn.IsZero() && ContainsPassword(dsn.written) {
		d.Fault(path,
			"must not hold a password in clear: put the whole DSN into a variable or file, ${env:NAME} or ${file:PATH}, or only the password, "+
				"as in postgres://user:${env:NAME}@host/database (and change a password that others have seen)")
	}
}

func (c *Config) checkState(d *Decoder) {
	d.OneOf("state.driver", c.State.Driver, "sqlite", "postgres")
	d.checkDSN("state.dsn", c.State.DSN)
	if d.faulty("state") {
		return
	}
	d.checkDSN("state.witness", c.State.Witness)
	if w := c.State.Witness; state.IsFolder(w.value) {
		d.wholePath("state.witness", w.value, w.written)
	}
	d.wholePath("state.journal", c.State.Journal, c.written["state.journal"])
	if c.State.Driver == "postgres" {
		d.Require("state", map[string]bool{"dsn": c.State.DSN.IsZero(), "journal": c.State.Journal == ""})
		return
	}
	if c.State.DSN.IsZero() {
		c.State.DSN = Secret{value: defaultStateFile, written: defaultStateFile}
	}
	d.wholePath("state.dsn", c.State.DSN.value, c.State.DSN.written)
}

// wholePath refuses a relative path of the ledger, because from another folder it would name
// another ledger. A desk with Windows reads configurations of hosts with Linux.
func (d *Decoder) wholePath(path, value, written string) {
	refers := reference.MatchString(written)
	if value == "" || filepath.IsAbs(value) || strings.HasPrefix(value, "/") || d.faulty(path) || refers && d.secrets.placeholder {
		return
	}
	if refers || written == "" { // never show what a reference resolves to
		value = cmp.Or(written, value)
	}
	d.Fault(path,
		"%s is no absolute path: from another folder it would name another ledger; give the whole path, like /var/lib/safrasync/state.db", value)
}

// checkQuery reports what is wrong with a query at its own line of the file, as far as that is
// known without the database.
func (c *Config) checkQuery(d *Decoder, path, query string) {
	var bad *erp.Error
	if query == "" || d.faulty(path) || !errors.As(erp.CheckQuery(c.ERP.Driver, query), &bad) {
		return
	}
	fault := FaultAt(d.Source, d.Index, path, bad.Text)
	if line, column := d.Source.inText(d.Index[path].Value, bad.Line, bad.Column); line > 0 {
		fault.Line, fault.Column, fault.Excerpt = line, column, d.Source.excerpt(line, column)
		fault.Text = phrase.New("the query cannot be read: %w", bad.Wrong)
	}
	d.faults = append(d.faults, fault)
}

var snippetName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,29}$`)

// checkSnippets checks the queries of `with:`. Each must be used: an unused one is usually a
// misspelled name, which the database would only call an unknown table.
func (c *Config) checkSnippets(d *Decoder) {
	for i, s := range slices.Backward(c.With) {
		path := joinPath("with", s.Name)
		if !snippetName.MatchString(s.Name) {
			d.Fault(path, "is used like a table: letters, digits and _, beginning with a letter, at most 30 characters")
			continue
		}
		c.checkQuery(d, path, s.SQL)
		if slices.ContainsFunc(c.With[:i], func(o erp.Snippet) bool { return strings.EqualFold(o.Name, s.Name) }) {
			d.Fault(path, "has the name of an earlier one; databases ignore case in names")
		}
		uses := func(sql string) bool { return erp.WithSnippets(c.ERP.Driver, sql, []erp.Snippet{s}) != sql }
		var queries []string
		for _, job := range c.Jobs {
			queries = append(queries, job.Query)
		}
		for _, r := range c.References {
			queries = append(queries, r.Query)
		}
		for _, later := range c.With[i+1:] {
			queries = append(queries, later.SQL)
		}
		if !d.faulty("erp.driver") && !d.faulty(path) && !slices.ContainsFunc(queries, uses) {
			d.Fault(path, "is in no FROM or JOIN of a query of jobs, references or later snippets; is its name misspelled there?")
		}
	}
}

// checkName restricts names to a plain form. People type them on the command line, and they are
// parts of paths with dots.
func (d *Decoder) checkName(section, name string) {
	path := joinPath(section, name)
	e, ok := d.Index[path]
	if ok && !plainName.MatchString(name) {
		d.faultAt(section, e.keyPos, "the name %s may have only letters, digits, - and _, and begins with a letter",
			ShortName(name))
	}
}

func (d *Decoder) specFaults(err error) {
	for _, s := range SpecErrors(err) {
		d.Fault(s.Path, "%w", s.Text)
	}
}

// resolvePath returns the path of a file; a relative one is relative to the folder of the configuration.
func (c *Config) resolvePath(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(filepath.Dir(c.source.Name), file)
}
