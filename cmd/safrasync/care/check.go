package care

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/cmd/safrasync/api"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/cmd/safrasync/config"
	"github.com/safrasync/safrasync/cmd/safrasync/rows"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/rehearse"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// NewCheckCommand makes the command check.
func NewCheckCommand(a *cli.App) *cobra.Command {
	var offline, tell bool
	cmd := a.Command("check", "help.check", cli.Exactly(0), func(cmd *cobra.Command, _ []string) error {
		return check(cmd.Context(), a, offline, tell)
	})
	cmd.Flags().BoolVar(&offline, "offline", false,
		"leave out the ERP, the API and a ledger on PostgreSQL: nothing that is reached over a network")
	cmd.Flags().BoolVar(&tell, "alert", false, "send a test message to every recipient of alerts and digests")
	return cmd
}

// checkJSON is one line of `check --json`. A line that is ok and has a hint is a warning.
type checkJSON struct {
	Check string `json:"check"`
	OK    bool   `json:"ok"`
	Text  string `json:"text"`
	Hint  string `json:"hint"`

	Identity *rehearse.IdentityFinding `json:"identity,omitempty"` // the finding of the check "identity" as data
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
	return cmp.Or(i18n.CLI.Find(c.voice().Lang, i18n.Key("check.name."+check)), check)
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
		line.Text = c.text("check.first", c.name(c.first.Check), cause)
	case c.warned > 0:
		line.Text += c.text("check.but", c.warned)
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

// check examines everything that a run needs, in the order in which a run needs it. It never sends
// a POST to the API and never writes the ledger. With tell it also sends a test message.
func check(ctx context.Context, a *cli.App, offline, tell bool) error {
	c := &checker{app: a}
	config, err := a.LoadConfig()
	var jobs []*mapping.Job
	if err == nil {
		jobs, err = cli.CompileJobs(config)
	}
	if err != nil {
		c.fail("configuration", "check.config_hint", "check.fault", err)
		return c.end(cli.ExitConfig, "check.ready")
	}
	c.pass("configuration", "check.config_ok", config.File(), len(jobs))
	for _, job := range jobs {
		if columns := job.ContractInKey(); len(columns) > 0 {
			c.contractInKey(job, columns)
		}
		if fields := job.LacksForCompra(); len(fields) > 0 {
			c.warn("job "+job.Name(), "check.compra_hint", "check.compra", strings.Join(fields, ", "))
		}
		if n, hours := clock.EveryMinuteOf(job.Spec.Schedule); n > 0 {
			c.warn("job "+job.Name(), "check.every_minute_hint", "check.every_minute", job.Spec.Schedule, n, hours)
		}
		if columns := job.PositionsInKey(); len(columns) > 0 {
			c.warn("job "+job.Name(), "check.position_hint", "check.position", strings.Join(columns, ", "))
		}
	}
	if erp.Unencrypted(config.ERP.Driver, erp.Secret(config.ERP.DSN.Reveal())) {
		c.warn("erp", "check.open_erp_hint", "check.open_erp")
	}
	c.alerts(ctx, tell)
	if offline && config.State.Driver == state.Postgres {
		c.pass("ledger", "check.ledger_elsewhere")
		return c.end(cli.ExitFailed, "check.ready_offline")
	}
	store := c.ledger(ctx, offline)
	if offline && store != nil {
		c.identity(ctx, store, nil, jobs)
	}
	if offline {
		return c.end(cli.ExitFailed, "check.ready_offline")
	}
	c.erp(ctx, store, jobs)
	c.api(ctx)
	c.openID(ctx)
	return c.end(cli.ExitFailed, "check.ready")
}

// remarks are the findings about the ledger that do not prevent it from working.
var remarks = map[string]bool{"file system": true, "free space": true, "write-ahead log": true}

// ledger opens the ledger and checks it. If it cannot be opened, ledger reports why and returns an
// empty one in memory, so that the checks of the jobs can continue. A ledger of an older version
// passes, because the start migrates it; offline, ledger then returns nil.
func (c *checker) ledger(ctx context.Context, offline bool) *state.Store {
	const name = "ledger"
	store, err := state.Open(ctx, c.app.LedgerOptions(c.app.Config, cli.ToRead))
	var fault *state.Error
	switch {
	case errors.As(err, &fault) && fault.Code == state.CodeOlder:
		c.pass(name, "check.ledger_older")
		if offline {
			return nil
		}
	case errors.Is(err, state.ErrNoLedger):
		absent := err
		if err := state.Forgotten(c.app.LedgerOptions(c.app.Config, cli.ToRead)); err != nil {
			c.ledgerFault(name, err)
		} else {
			c.ledgerFault(name, absent)
		}
	case err != nil:
		c.ledgerFault(name, err)
	default:
		c.app.Closers = append(c.app.Closers, store.Close)
		c.health(ctx, store)
		c.journal(ctx, store)
		c.platform(ctx, store)
		return store
	}
	if store, err = state.OpenMemory(ctx); err != nil {
		c.fail(name, "check.ledger_hint", "check.fault", err)
		return nil
	}
	c.app.Closers = append(c.app.Closers, store.Close)
	return store
}

// journal compares the ledger with its journal, as the next run does before it sends anything.
func (c *checker) journal(ctx context.Context, store *state.Store) {
	const name = "journal"
	report, err := store.JournalReport(ctx, c.app.Config.State.Journals())
	switch {
	case err != nil:
		c.ledgerFault(name, err)
	case report.New:
		c.pass(name, "check.journal_new", report.Folder)
	case report.Unfinished:
		c.warn(name, "check.journal_unfinished_hint", "check.journal_unfinished", report.Folder)
	default:
		c.pass(name, "check.journal_ok", report.Folder, report.Records)
	}
}

// voice returns the person's voice, or the machine's for JSON.
func (c *checker) voice() cli.Voice {
	if c.app.AsJSON {
		return cli.Machine
	}
	return c.app.Voice()
}

func (c *checker) health(ctx context.Context, store *state.Store) {
	findings, err := store.Health(ctx)
	if err != nil {
		c.fail("ledger", "check.ledger_hint", "check.fault", err)
		return
	}
	var fine []string
	for _, f := range findings {
		if f.OK && f.Hint == "" {
			fine = append(fine, c.voice().Said(f.Name)+" "+c.voice().Said(f.Value))
			continue
		}
		c.report(checkJSON{
			Check: "ledger", OK: f.OK || remarks[f.Name],
			Text: c.voice().Said(f.Name) + " " + c.voice().Said(f.Value), Hint: c.voice().Said(f.Hint),
		})
	}
	c.report(checkJSON{Check: "ledger", OK: true, Text: strings.Join(fine, ", ")})
}

// erp checks the ERP's database and each job's query.
func (c *checker) erp(ctx context.Context, store *state.Store, jobs []*mapping.Job) {
	source, err := c.app.OpenERP(ctx)
	if err != nil {
		c.fail("erp", "check.erp_hint", "check.fault", c.bare(err))
		return
	}
	facts, err := source.Facts(ctx)
	product := facts.Product + " " + facts.Version
	switch {
	case err != nil:
		c.fail("erp", "check.erp_hint", "check.fault", c.bare(err))
		return
	case erp.UnknownCharset(facts.Charset) && c.app.Config.ERP.Charset == "":
		c.warn("erp", "check.charset_hint", "check.erpok", source.Target(), product, facts.Charset)
	default:
		c.pass("erp", "check.erpok", source.Target(), product, facts.Charset)
	}
	if store == nil {
		return
	}
	e, err := c.app.OpenEngine(store, source, nil)
	if err != nil {
		c.fail("configuration", "check.config_hint", "check.fault", err)
		return
	}
	surveys := map[string]*rehearse.Survey{}
	for _, job := range jobs {
		c.job(ctx, e, job, surveys)
	}
	for _, job := range jobs {
		c.mismatches(ctx, e, surveys[job.Name()], surveys, job.Name())
	}
	c.identity(ctx, store, source, jobs)
}

// identity reports, before a run does, how the configuration affects which rows count as the same:
// jobs with a new name, changed keys, rows that two jobs return.
func (c *checker) identity(ctx context.Context, store *state.Store, source run.Source, jobs []*mapping.Job) {
	const name = "identity"
	findings, err := rehearse.CheckIdentity(ctx, engine.LedgerOf(store).Readable, source, jobs)
	if err != nil {
		c.warn(name, "check.identity_hint", "check.fault", c.bare(err))
		return
	}
	for _, f := range findings {
		text, hint := c.identityText(f)
		c.report(checkJSON{Check: name, OK: true, Text: text, Hint: hint, Identity: &f})
	}
	if len(findings) == 0 {
		c.pass(name, "check.identity_ok")
	}
}

// identityText returns the text of a finding, and what to do.
func (c *checker) identityText(f rehearse.IdentityFinding) (text, hint string) {
	v := c.voice()
	switch f.Kind {
	case rehearse.FormerJob:
		text = v.Text("check.former_job", f.Job, f.Known.Accepted, f.Known.InDoubt)
		if len(f.Others) == 0 {
			return text, v.Text("check.former_alone_hint")
		}
		return text, v.Text("check.former_job_hint", strings.Join(f.Others, ", "), f.Job, f.Others[0], f.Others[0])
	case rehearse.SplitJob:
		return v.Text("check.split_job", f.Job, f.Known.Gone, f.Known.Accepted+f.Known.InDoubt,
			strings.Join(f.Others, ", ")), v.Text("check.split_job_hint", f.Others[0])
	case rehearse.ChangedKey:
		text = v.Text("check.changed_key", f.Job, v.Identity(f.Now), v.Identity(f.Was))
		if b := f.Change; b != nil {
			text += v.Text("check.changed_rows", b.Known, b.Known-b.Found, b.Rows)
		}
		return text, v.Text("check.changed_key_hint")
	case rehearse.ChangedSpace:
		known := f.Known
		if known == nil {
			known = &trade.KnownJob{}
		}
		return v.Text("check.changed_space", f.Job, f.Was.Space, f.Now.Space, known.Accepted, known.InDoubt),
			v.Text("check.changed_space_hint", strings.Join(f.Others, ", "))
	}
	text = v.Text("check.shared_keys", f.Rows, f.Others[0], f.Job, strings.Join(f.Sample, ", "))
	if !f.Whole {
		text += v.Text("check.shared_part")
	}
	return text, v.Text("check.shared_keys_hint")
}

// bare returns an error's text without the prefix of its package, because the line already begins
// with that name.
func (c *checker) bare(err error) string {
	return strings.TrimPrefix(c.voice().Fault(err), "erp: ")
}

func (c *checker) contractInKey(job *mapping.Job, columns []string) {
	c.warn("job "+job.Name(), "check.contract_key_hint", "check.contract_key", strings.Join(columns, ", "))
}

// job compares a mapping with the columns of its query, reads its references, and surveys its rows,
// which finds what would stop a run.
func (c *checker) job(ctx context.Context, e *cli.Engine, job *mapping.Job, surveys map[string]*rehearse.Survey) {
	name := "job " + job.Name()
	err := e.Check(ctx, job)
	var survey *rehearse.Survey
	if err == nil {
		survey, err = e.Survey(ctx, job)
	}
	err = c.app.Config.Annotate(err)
	var faults *config.Error
	switch {
	case err == nil:
		surveys[job.Name()] = survey
		c.pass(name, "check.job_ok", len(job.Spec.Fields))
		if len(survey.Unseen) > 0 {
			c.report(checkJSON{
				Check: name, OK: true, Text: rows.UnseenCancelled(c.voice(), survey.CancelledColumn,
					job.Spec.Cancelled.Column),
				Hint: c.text("check.unseen_hint"),
			})
		}
		if columns := survey.ContractInKey(); len(columns) > 0 && len(job.ContractInKey()) == 0 {
			c.contractInKey(job, columns)
		}
	case erp.CodeOf(err) == erp.CodeConfig:
		c.fail(name, "check.column_hint", "check.fault", c.bare(err))
	case errors.As(err, &faults):
		for _, fault := range faults.Faults {
			c.fail(name, "check.column_hint", "check.fault", &config.Error{Faults: []config.Fault{fault}})
		}
	case erp.CodeOf(err) == erp.CodePermission:
		c.fail(name, "check.grant_hint", "check.fault", c.bare(err))
	default:
		c.fail(name, "check.query_hint", "check.fault", c.bare(err))
	}
}

// mismatches reports references to parents that match no parent row. The cause is the
// configuration, which builds the two keys in different forms, not the data in the ERP.
func (c *checker) mismatches(ctx context.Context, e *cli.Engine, survey *rehearse.Survey,
	surveys map[string]*rehearse.Survey,
	job string,
) {
	if survey == nil {
		return
	}
	name := "job " + job
	found, err := e.Mismatches(ctx, survey, surveys)
	if err != nil {
		c.warn(name, "check.ledger_hint", "check.fault", err)
	}
	for _, m := range found {
		here, there := strings.Join(m.Here, ", "), strings.Join(m.There, ", ")
		if m.Column == "" {
			c.warn(name, "check.no_parent_hint", "check.no_parent", m.Rows, m.Parent, here, m.Parent, there)
		} else {
			c.warn(name, "check.constant_hint", "check.constant", m.Column, here, m.Parent, there)
		}
	}
}

// openID requests the discovery document of the console's login provider. A provider that does not
// answer is a warning only, because nothing else depends on it.
func (c *checker) openID(ctx context.Context) {
	const name = "console.oidc"
	issuer, err := c.app.Config.Console.OpenID()
	switch {
	case issuer == nil && err == nil:
		return
	case err == nil:
		err = issuer.Check(ctx, cli.Now())
	}
	if err != nil {
		c.warn(name, "check.issuer_hint", "check.fault", err)
		return
	}
	c.pass(name, "check.issuer_ok", issuer.Issuer)
}

// maxClockDrift is the difference to the API's clock above which schedules and dates of the ledger
// mislead people.
const maxClockDrift = 5 * time.Minute

// api sends two harmless GETs. The first reads the webhooks, as each run does before it sends. The
// second reads a contract that cannot exist: its response has the API's clock, and shows whether
// the key may read contracts.
func (c *checker) api(ctx context.Context) {
	client, err := c.app.OpenAPI()
	if err != nil {
		c.fail("api", "check.config_hint", "check.fault", err)
		return
	}
	asked := cli.Now()
	_, err = client.ListWebhooks(ctx)
	var failure *apiclient.Error
	if err != nil && (!errors.As(err, &failure) || !cli.Passes(failure)) {
		if failure != nil && !c.app.AsJSON {
			c.fail("api", apiHint(failure), "check.api_failed", api.FailureOf(c.app.Voice(), failure).What, err)
		} else {
			c.fail("api", apiHint(failure), "check.fault", err)
		}
		if failure != nil {
			c.clock(failure.Header, asked)
		}
		return
	}
	c.pass("api", "check.apiok", c.app.Config.API.BaseURL)
	asked = cli.Now()
	failure = nil
	if _, err = client.GetOrderCommitment(ctx, uuid.NewString()); errors.As(err, &failure) {
		c.clock(failure.Header, asked)
	}
}

// apiHint returns the hint for a GET that failed.
func apiHint(e *apiclient.Error) i18n.Key {
	switch {
	case e == nil:
		return "check.api_hint"
	case e.Status == http.StatusUnauthorized && e.Format == apiclient.FormatEmpty:
		return "check.key_inside_hint"
	case e.Status == http.StatusUnauthorized:
		return "check.key_hint"
	case e.Status == http.StatusForbidden:
		return "check.permission_hint"
	case e.Fault == apiclient.FaultCertificate:
		return "check.certificate_hint"
	}
	return "check.api_hint"
}

// clock compares the host's clock with the API's Date header, if the response has one.
func (c *checker) clock(header http.Header, asked time.Time) {
	theirs, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return
	}
	drift := asked.Sub(theirs).Round(time.Second)
	if drift.Abs() > maxClockDrift {
		c.warn("clock", "check.clock_hint", "check.clock_off", drift)
		return
	}
	c.pass("clock", "check.clock_ok")
}
