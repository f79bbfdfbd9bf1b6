package maintenance

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/alert"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/dryrun"
	"github.com/safrasync/safrasync/sync/mapping"
)

// NewCheckCommand makes the command check.
func NewCheckCommand(a *cli.App) *cobra.Command {
	var offline, tell, asked bool
	cmd := a.Command("check", "check configuration, ERP, ledger, API key and clock; sends nothing", cli.Exactly(0), func(ctx context.Context, _ []string) error {
		if asked {
			return battery(ctx, a)
		}
		// Everything that a run needs is examined in the order in which a run needs it. Nothing is posted
		// to the API, and the ledger is not written.
		c := &checker{app: a}
		config, err := a.LoadConfig()
		var jobs []*mapping.Job
		if err == nil {
			jobs, err = office.CompileJobs(config)
		}
		if err != nil {
			c.fail("configuration", "config.example.yaml explains every key", "%v", err)
			return c.end(cli.ExitConfig, "Ready: `safrasync sync --dry-run` shows what would be sent.")
		}
		c.pass("configuration", "%s, %d {job|jobs}", config.File(), len(jobs))
		for _, job := range jobs {
			if columns := job.ContractInKey(); len(columns) > 0 {
				c.contractInKey(job, columns)
			}
			if fields := job.LacksForCompra(); len(fields) > 0 {
				c.warn("job "+job.Name(), "the platform requires these fields for COMPRA: map them; you can ignore this only if you never send COMPRA", "no contract of type COMPRA can be valid: fields lacks %s", strings.Join(fields, ", "))
			}
			if n, hours := clock.EveryMinuteOf(job.Spec.Schedule); n > 0 {
				c.warn("job "+job.Name(), "* in the minutes field means every minute; for once an hour, put 0 there", `schedule "%s" runs %d times an hour, in the hours %s`, job.Spec.Schedule, n, hours)
			}
			if columns := job.PositionsInKey(); len(columns) > 0 {
				c.warn("job "+job.Name(), "inserting or deleting a row renumbers all the rows after it, which are then held or flagged: use a column that stays with the document", "the key counts positions with ROW_NUMBER (%s)", strings.Join(columns, ", "))
			}
		}
		if mode := config.OthersMayWrite(); mode != 0 {
			c.warn("secrets", "whoever can change the configuration decides where the data is sent: run chmod go-w on that file", "other users can change %s (mode %04o)", config.File(), mode)
		}
		if erp.Unencrypted(config.ERP.Driver, erp.Secret(config.ERP.DSN.Reveal())) {
			c.warn("erp", "in erp.dsn: sslmode=verify-full (PostgreSQL), tls=verify (MySQL, SQL Server, Oracle) or wire_crypt=required (Firebird)", "the connection goes to another host without TLS: the password and the rows are sent unencrypted")
		}
		if config.State.Driver == state.Postgres && erp.Unencrypted("postgres", erp.Secret(config.State.DSN.Reveal())) {
			c.warn("ledger", "in state.dsn: sslmode=verify-full", "the connection to the ledger goes to another host without TLS: the password and the rows are sent unencrypted")
		}
		if erp.Unproved(config.ERP.Driver, erp.Secret(config.ERP.DSN.Reveal())) {
			c.warn("erp", "in erp.dsn: sslmode=verify-full (PostgreSQL), tls=verify (MySQL, SQL Server, Oracle) or wire_crypt=required (Firebird)", "the connection is encrypted, but nobody checks who answers on the other host")
		}
		if config.State.Driver == state.Postgres && erp.Unproved("postgres", erp.Secret(config.State.DSN.Reveal())) {
			c.warn("ledger", "in state.dsn: sslmode=verify-full", "the connection is encrypted, but nobody checks who answers on the other host")
		}
		for _, listener := range []struct{ part, address, cert, key string }{
			{"console", config.Console.Listen, config.Console.CertFile, config.Console.KeyFile},
			{"http_api", config.HTTPAPI.Listen, config.HTTPAPI.CertFile, config.HTTPAPI.KeyFile},
			{"webhooks", config.Webhooks.Listen, config.Webhooks.CertFile, config.Webhooks.KeyFile},
		} {
			if listener.cert != "" {
				c.certificate(listener.part+".cert_file", listener.address, listener.cert, listener.key)
			}
		}
		channels, err := office.Channels(config)
		switch {
		case err != nil:
			c.fail("alerts", "config.example.yaml explains every key", "%v", err)
		case len(channels) == 0 && tell:
			c.fail("alerts", "add email or webhook under alerts; config.example.yaml shows how", "no recipients are configured")
		}
		heartbeat, err := office.NewHeartbeat(config, nil, nil, nil) // it calls nothing
		switch {
		case err != nil: // the channels have said so
		case heartbeat != nil:
			c.pass("heartbeat", "%v; the service calls it after each pass, this check does not", heartbeat)
		case len(channels) > 0:
			c.warn("heartbeat", "if the service stops, only a monitor elsewhere notices: make one, for example at healthchecks.io, and put its address into alerts.heartbeat", "none (alerts.heartbeat)")
		}
		for _, channel := range channels {
			targets := alert.AllTargets(channel)
			if !tell {
				c.pass("alerts", "%v, %d {recipient|recipients}; `safrasync check --alert` sends a test", channel, len(targets))
				continue
			}
			for _, target := range targets {
				to := cmp.Or(alert.AddressOf(target), fmt.Sprint(channel))
				m := alert.TestMessage(alert.Config{
					Lang: a.Lang(), Zone: config.Zone(), Name: config.Alerts.Name, Now: office.Now,
					Console: config.Console.PublicURL,
				})
				m.ID = uuid.NewString()
				if err := channel.Send(ctx, target, m); err != nil {
					c.fail("alerts", "correct alerts in the configuration, or contact the server's administrator; then repeat", "test not delivered: %s (%v)", to, err)
				} else {
					c.pass("alerts", "test delivered: %s", to)
				}
			}
		}
		if offline && config.State.Driver == state.Postgres {
			c.pass("ledger", "is in PostgreSQL; --offline does not open it")
			return c.end(cli.ExitFailed, "Ready, as far as can be checked offline: `safrasync check` also checks the ERP and the API.")
		}
		store := c.ledger(ctx, offline)
		if offline && store != nil {
			c.identity(ctx, store, nil, jobs)
		}
		if offline {
			return c.end(cli.ExitFailed, "Ready, as far as can be checked offline: `safrasync check` also checks the ERP and the API.")
		}
		c.erp(ctx, store, jobs)
		c.api(ctx)
		c.openID(ctx)
		return c.end(cli.ExitFailed, "Ready: `safrasync sync --dry-run` shows what would be sent.")
	})
	cmd.Flags().BoolVar(&offline, "offline", false,
		"leave out the ERP, the API and a ledger on PostgreSQL: nothing that is reached over a network")
	cmd.Flags().BoolVar(&tell, "alert", false, "send a test message to every recipient of alerts and digests")
	cmd.Flags().BoolVar(&asked, "battery", false,
		"only ask the ERP's server SELECTs without a table, and say what is read otherwise than it must be")
	return cmd
}

// checkJSON is one line of `check --json`. A line that is ok and has a hint is a warning.
type checkJSON struct {
	Check string `json:"check"`
	OK    bool   `json:"ok"`
	Text  string `json:"text"`
	Hint  string `json:"hint"`

	Identity *dryrun.IdentityFinding `json:"identity,omitempty"` // the finding of the check "identity" as data
}

// checker prints one line for each check, and remembers whether one failed.
type checker struct {
	app    *cli.App
	failed bool
	first  checkJSON // the first check that failed
	warned int
	err    error // errors of writing the output
}

func (c *checker) report(line checkJSON) {
	switch {
	case !line.OK && !c.failed:
		c.failed, c.first = true, line
	case line.OK && line.Hint != "":
		c.warned++
	}
	if c.app.AsJSON {
		c.err = errors.Join(c.err, c.app.PrintJSON(line))
		return
	}
	sign := "✓"
	switch {
	case !line.OK:
		sign = "✗"
	case line.Hint != "":
		sign = "!"
	}
	c.app.Block(sign + " " + c.name(line.Check) + ": " + line.Text)
	if line.Hint != "" {
		c.app.Block("    → " + line.Hint)
	}
	c.err = errors.Join(c.err, c.app.Out.Flush()) // each line as soon as it is known: the next may take long
}

// name returns the name of a check in the person's language.
func (c *checker) name(check string) string {
	if job, ok := strings.CutPrefix(check, "job "); ok {
		return c.text("check.name.job") + " " + job
	}
	return cmp.Or(i18n.CLI.Find(c.voice().Lang, "check.name."+check), check)
}

// end prints one line: ready if nothing failed, otherwise what to cure first. It returns an error
// with the exit code if a check failed.
func (c *checker) end(code int, ready i18n.Key) error {
	line := checkJSON{Check: "result", OK: !c.failed, Text: c.text(ready)}
	switch {
	case c.failed:
		cause, _, _ := strings.Cut(c.first.Text, "\n")
		if c.first.Hint != "" && code != cli.ExitConfig {
			cause = c.first.Hint
		}
		line.Text = c.text("First (%s): %s", c.name(c.first.Check), cause)
	case c.warned > 0:
		line.Text += c.text(" Warnings above, marked with !: %d.", c.warned)
	}
	if c.app.AsJSON {
		c.err = errors.Join(c.err, c.app.PrintJSON(line))
	} else {
		c.app.Block("\n" + line.Text)
	}
	if c.failed {
		return errors.Join(&cli.ExitError{Code: code}, c.err)
	}
	return c.err
}

// text returns a text in the person's language, or in English for JSON.
func (c *checker) text(p i18n.Key, args ...any) string {
	return c.voice().Text(p, args...)
}

func (c *checker) pass(name string, p i18n.Key, args ...any) {
	c.report(checkJSON{Check: name, OK: true, Text: c.text(p, args...)})
}

func (c *checker) warn(name string, hint, p i18n.Key, args ...any) {
	c.report(checkJSON{Check: name, OK: true, Text: c.text(p, args...), Hint: c.text(hint)})
}

func (c *checker) fail(name string, hint, p i18n.Key, args ...any) {
	c.report(checkJSON{Check: name, Text: c.text(p, args...), Hint: c.text(hint)})
}

// voice returns the person's voice, or the machine's for JSON.
func (c *checker) voice() words.Voice {
	if c.app.AsJSON {
		return words.Machine
	}
	return c.app.Voice()
}

// openID requests the discovery document of the console's login provider. A provider that does not
// answer is a warning only, because nothing else depends on it.
func (c *checker) openID(ctx context.Context) {
	const name = "console.oidc"
	issuer, err := c.app.Config.OpenID()
	switch {
	case issuer == nil && err == nil:
		return
	case err == nil:
		err = issuer.Check(ctx, office.Now())
	}
	if err != nil {
		c.warn(name, "users with a password in the console can log in; all others only when the provider answers: check console.oidc.issuer, ca_file and proxy", "%v", err)
		return
	}
	c.pass(name, "%s answers and has keys", issuer.Issuer)
}

// maxClockDrift is the difference to the API's clock above which schedules and dates of the ledger
// mislead people.
const maxClockDrift = 5 * time.Minute

// api sends two harmless GETs. The first reads the webhooks, as each run does before it sends. The
// second reads a contract that cannot exist: its response has the API's clock, and shows whether
// the key may read contracts.
func (c *checker) api(ctx context.Context) {
	// a proxy of the environment that is not used is named, because people expect that it is
	ignored := []string{"HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"}
	at := slices.IndexFunc(ignored, func(name string) bool { return os.Getenv(name) != "" })
	if c.app.Config.API.Proxy.IsZero() && at >= 0 {
		c.warn("api.proxy", "if the platform is reached through the proxy only, write its address into api.proxy", "the variable %s is set on this host, but safrasync does not use a proxy of the environment for the platform", ignored[at])
	}
	client, err := c.app.OpenAPI()
	if err != nil {
		c.fail("api", "config.example.yaml explains every key", "%v", err)
		return
	}
	asked := office.Now()
	err = client.Probe(ctx)
	failure, _ := errors.AsType[*apiclient.CallError](err)
	switch {
	case err == nil:
		c.pass("api", "%s answers and accepts the key", c.app.Config.API.BaseURL)
		asked = office.Now()
		_, err = client.GetOrderCommitment(ctx, uuid.NewString())
		failure, _ = errors.AsType[*apiclient.CallError](err)
	case failure != nil && !c.app.AsJSON:
		c.fail("api", apiHint(failure), "%s (technical detail: %v)", words.FailureOf(c.app.Voice(), failure).What, err)
	default:
		c.fail("api", apiHint(failure), "%v", err)
	}
	if failure != nil {
		c.clock(failure.Header, asked)
	}
}

// apiHint returns the hint for a GET that failed.
func apiHint(e *apiclient.CallError) i18n.Key {
	switch {
	case e == nil:
	case e.Status == http.StatusUnauthorized && e.Format == apiclient.FormatEmpty:
		return "the gateway accepted the key, but a service behind it refused it: ask the platform's support"
	case e.Status == http.StatusUnauthorized:
		return "the key was refused: renew api.api_key"
	case e.Status == http.StatusForbidden:
		return "the key has no permission: ask the platform's support"
	case e.Fault == apiclient.FaultCertificate:
		return "check api.ca_file and this host's clock"
	}
	return "check api.base_url, the network and api.proxy"
}

// clock compares the host's clock with the API's Date header, if the response has one.
func (c *checker) clock(header http.Header, asked time.Time) {
	theirs, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return
	}
	drift := asked.Sub(theirs).Round(time.Second)
	if drift.Abs() > maxClockDrift {
		c.warn("clock", "switch on time synchronisation (NTP) on this host", "differs by %s from the API's clock", drift)
		return
	}
	c.pass("clock", "agrees with the API's clock")
}

// expiresSoon is how long before its end a certificate is named.
const expiresSoon = 21 * 24 * time.Hour

func (c *checker) certificate(place, address, cert, key string) {
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		if wrong, ok := errors.AsType[*fs.PathError](err); ok {
			err = phrase.Errorf("%s: %w", wrong.Path, config.PlainReason(wrong))
		}
		c.fail("certificate", "both files are PEM, belong together, and the service's user can read both (chgrp safrasync; chmod 640; for the key 600, owned by safrasync)", "%s: certificate and key cannot be used: %v", place, err)
		return
	}
	dialer := &net.Dialer{Timeout: 2 * time.Second}
	// Only whether it is the same one is asked. Nobody answers where no service runs.
	if conn, err := tls.DialWithDialer(dialer, "tcp", address, &tls.Config{InsecureSkipVerify: true}); err == nil {
		served := conn.ConnectionState().PeerCertificates[0]
		_ = conn.Close() // it has served
		if !served.Equal(pair.Leaf) {
			c.warn("certificate", "a renewed certificate is read within ten seconds; if it stays so, see whether cert_file and key_file are a pair, and who else uses that address", "%s: the service still serves another certificate, which is valid until %s", place,
				c.voice().Moment(served.NotAfter))
		}
	}
	end := pair.Leaf.NotAfter
	until := c.voice().Moment(end)
	switch left := end.Sub(office.Now()); {
	case left < 0:
		c.fail("certificate", "renew the certificate; the service reads the new one within ten seconds", "%s: expired on %s", place, until)
	case left < expiresSoon:
		c.warn("certificate", "renew the certificate; the service reads the new one within ten seconds", "%s: expires on %s", place, until)
	default:
		c.pass("certificate", "%s: usable, valid until %s", place, until)
	}
}
