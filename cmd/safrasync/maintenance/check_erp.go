// What check asks of the ERP, of the jobs, and of what is the same.

package maintenance

import (
	"context"
	"errors"
	"strings"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/dryrun"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// erp checks the ERP's database and each job's query.
func (c *checker) erp(ctx context.Context, store *state.Store, jobs []*mapping.Job) {
	source, err := c.app.OpenERP(ctx)
	if err != nil {
		c.fail("erp", "check erp.dsn, the network and the reading user", "%v", c.bare(err))
		return
	}
	facts, err := source.Facts(ctx)
	product := facts.Product + " " + facts.Version
	switch {
	case err != nil:
		c.fail("erp", "check erp.dsn, the network and the reading user", "%v", c.bare(err))
		return
	case erp.UnknownCharset(facts.Charset) && c.app.Config.ERP.Charset == "":
		c.warn("erp", "the database does not declare a charset for its text; accented letters may come out wrong", "%s, %s, charset %s, opened read-only", source.Target(), product,
			facts.Charset)
	case facts.Reading == erp.ReadsLocked:
		c.warn("erp", "ask the database's administrator to switch on ALLOW_SNAPSHOT_ISOLATION before you trust a sweep", "%s, %s, charset %s; the reading waits for writers, and can miss a row that moves", source.Target(), product, facts.Charset)
	case facts.Reading == erp.ReadsVersions:
		c.pass("erp", "%s, %s, charset %s; each query reads what was committed when it began (READ_COMMITTED_SNAPSHOT)", source.Target(), product, facts.Charset)
	case facts.Reading == erp.ReadsSnapshot:
		c.pass("erp", "%s, %s, charset %s; all is read as it was at one moment (SNAPSHOT)", source.Target(), product, facts.Charset)
	default:
		c.pass("erp", "%s, %s, charset %s, opened read-only", source.Target(), product, facts.Charset)
	}
	if facts.Filtered != "" {
		c.warn("erp", "a hidden row counts as one that the ERP has no more: look at the policies of the table, or give the user of safrasync the attribute BYPASSRLS", "the database may hide rows of %s from safrasync (row-level security)", facts.Filtered)
	}
	if facts.Reading != "" {
		c.mayWrite(ctx, source)
	}
	if store == nil {
		return
	}
	e, err := c.app.OpenEngine(store, source, true, nil)
	if err != nil {
		c.fail("configuration", "config.example.yaml explains every key", "%v", err)
		return
	}
	surveys := map[string]*dryrun.Survey{}
	for _, job := range jobs {
		name := "job " + job.Name()
		err := e.Check(ctx, job)
		var survey *dryrun.Survey
		if err == nil {
			survey, err = e.Survey(ctx, job)
		}
		err = c.app.Config.Annotate(err)
		var faults *config.Error
		var stop *outcome.StopError
		switch {
		case err == nil:
			surveys[job.Name()] = survey
			c.pass(name, "the query has the columns of the %d mapped fields", len(job.Spec.Fields))
			if len(survey.Unseen) > 0 {
				c.report(checkJSON{
					Check: name, OK: true, Text: words.UnseenCancelled(c.voice(), survey.CancelledColumn,
						job.Spec.Cancelled.Column),
					Hint: c.text("if the ERP uses another value, correct cancelled.values: otherwise cancelled rows are sent, and the platform cannot delete them; if no row has been cancelled yet, this is fine"),
				})
			}
			for _, field := range config.SortedKeys(survey.Joined) {
				code := survey.Joined[field]
				c.warn(name, "these codes contain |; did you mean column: [a, b]? Return each column by itself in the query", "%s: column %s has codes with a | (%s); there the | belongs to the code, which equals no code of several parts", field, code.Column,
					trade.MaskDocuments(strings.Join(code.Some, ", ")))
			}
			if columns := survey.ContractInKey(); len(columns) > 0 && len(job.ContractInKey()) == 0 {
				c.contractInKey(job, columns)
			}
		case erp.CodeOf(err) == erp.CodeConfig:
			c.fail(name, "correct the query or the mapping at this line of the configuration", "%v", c.bare(err))
		case errors.As(err, &faults):
			for _, fault := range faults.Faults {
				c.fail(name, "correct the query or the mapping at this line of the configuration", "%v", &config.Error{Faults: []config.Fault{fault}})
			}
		case errors.As(err, &stop):
			c.report(checkJSON{
				Check: name, Text: c.bare(err), Hint: trade.ExplainStop(stop.Stop.Code, c.voice().Lang).Do,
			})
		case erp.CodeOf(err) == erp.CodePermission:
			c.fail(name, "grant SELECT to the reading user", "%v", c.bare(err))
		default:
			c.fail(name, "run the query directly in the database to see the error", "%v", c.bare(err))
		}
	}
	for _, job := range jobs {
		// References to parents that match no parent row. The cause is the configuration, which builds the two
		// keys in different forms, not the data in the ERP.
		survey := surveys[job.Name()]
		if survey == nil {
			continue
		}
		name := "job " + job.Name()
		found, err := e.Mismatches(ctx, survey, surveys)
		if err != nil {
			c.warn(name, "check state.dsn, the folder and its permissions", "%v", err)
		}
		for _, m := range found {
			here, there := strings.Join(m.Here, ", "), strings.Join(m.There, ", ")
			if m.Column == "" {
				c.warn(name, "the two queries write the same key differently: make both use the same form (leading zeros, branch); the data in the ERP is not at fault", "none of %d {row|rows} matches a row of job %s: here %s; in %s %s", m.Rows, m.Parent, here, m.Parent, there)
			} else {
				c.warn(name, "a constant key part assigns rows of another branch to the wrong contract: use the ERP's column in the query", "column %s, which identifies the row of job %[3]s, is always %[2]s, while that job has %[4]s", m.Column, here, m.Parent, there)
			}
		}
	}
	c.identity(ctx, store, source, jobs)
}

// identity reports, before a run does, how the configuration affects which rows count as the same:
// jobs with a new name, changed keys, rows that two jobs return.
func (c *checker) identity(ctx context.Context, store *state.Store, source run.Source, jobs []*mapping.Job) {
	const name = "identity"
	findings, err := dryrun.CheckIdentity(ctx, store, source, jobs)
	if err != nil {
		c.warn(name, "correct the above and check again", "%v", c.bare(err))
		return
	}
	for _, f := range findings {
		text, hint := c.identityText(f)
		c.report(checkJSON{Check: name, OK: true, Text: text, Hint: hint, Identity: &f})
	}
	if len(findings) == 0 {
		c.pass(name, "jobs and keys match the ledger; no row belongs to two jobs")
	}
}

// identityText returns the text of a finding, and what to do.
func (c *checker) identityText(f dryrun.IdentityFinding) (text, hint string) {
	v := c.voice()
	switch f.Kind {
	case dryrun.FormerJob:
		text = v.Text("job %s is not configured, and the ledger has rows that it sent: %d accepted, %d in doubt", f.Job, f.Known.Accepted, f.Known.InDoubt)
		if len(f.Others) == 0 {
			return text, v.Text("no other job sends any of their keys; if the job was really removed, there is nothing to do")
		}
		return text, v.Text("new jobs of the same kind (%s) are paused; if it is the same job under another name: `safrasync job move %s %s --reason TEXT` (of several former jobs only one can get the name); if it is a different one: `safrasync release %s --reason TEXT`", strings.Join(f.Others, ", "), f.Job, f.Others[0], f.Others[0])
	case dryrun.SplitJob:
		return v.Text("the query of job %s no longer returns %d of the %d {row|rows} that it has sent, and jobs of the same kind are new: %s", f.Job, f.Known.Gone, f.Known.Accepted+f.Known.InDoubt,
			strings.Join(f.Others, ", ")), v.Text("the new jobs are paused; if rows move from one job to another, give both the same key, so that they are not sent again; if they are different rows: `safrasync release %s --reason TEXT`", f.Others[0])
	case dryrun.ChangedKey:
		text = v.Text("job %s identifies rows by %s; in its last run by %s", f.Job, v.Identity(f.Now), v.Identity(f.Was))
		if b := f.Change; b != nil {
			text += v.Text(": of %d {known row|known rows}, %d would be gone and %d would look new", b.Known, b.Known-b.Found, b.Rows)
		}
		return text, v.Text("with another key every row looks new; restore the previous key, or confirm the change when the brake acts")
	case dryrun.ChangedSpace:
		known := f.Known
		if known == nil {
			known = &trade.KnownJob{}
		}
		return v.Text(`job %s changes from identity "%s" to "%s": it has %d accepted rows, %d in doubt`, f.Job, f.Was.Space, f.Now.Space, known.Accepted, known.InDoubt),
			v.Text("from then on its keys are compared only with those of jobs of the same identity; jobs of the same kind in the ledger: %s", strings.Join(f.Others, ", "))
	}
	text = v.Text("%d {row is|rows are} returned by both jobs %s and %s, such as %s", f.Rows, f.Others[0], f.Job, strings.Join(f.Sample, ", "))
	if !f.Whole {
		text += v.Text(" (only the first rows were compared)")
	}
	return text, v.Text("under one key each is sent once, by the first job that sends it, and is held in the other; under two keys it would go twice, and from ten on the second job is paused: correct the queries; if they are from two ERPs, give one of them an `identity`")
}

// bare returns an error's text without the prefix of its package, because the line already begins
// with that name.
func (c *checker) bare(err error) string {
	return strings.TrimPrefix(c.voice().Fault(err), "erp: ")
}

func (c *checker) contractInKey(job *mapping.Job, columns []string) {
	c.warn("job "+job.Name(), "a delivery that is transferred to another contract would look new and be sent again: use what identifies the ticket and its line", "the key contains the contract's key (%s)", strings.Join(columns, ", "))
}

// battery queries the configured ERP for what every engine must answer, and prints line by line
// what differs. It writes nothing and opens no ledger.
func battery(ctx context.Context, a *cli.App) error {
	source, err := a.OpenERP(ctx)
	if err != nil {
		return err
	}
	facts, err := source.Facts(ctx)
	if err != nil {
		return err
	}
	differ := 0
	show := func(f erp.Finding) {
		if f.Result == erp.Differs {
			differ++
		}
		if a.AsJSON {
			err = errors.Join(err, a.PrintJSON(f))
			return
		}
		line, key := strings.CutPrefix(f.Line, "key ")
		name := a.Text("battery.line." + line)
		if key {
			name = a.Text("found again by %s", name)
		}
		var got any = f.Got
		if f.Err != nil {
			got = f.Err
		}
		switch f.Result {
		case erp.Passed:
			a.Show("✓ %s: %s", name, got)
		case erp.Differs:
			a.Show("✗ %s: expected “%s”, got “%s”", name, f.Want, got)
		default:
			a.Show("- %s: this kind of database does not have it, or does not report it", name)
		}
		err = errors.Join(err, a.Out.Flush())
	}
	show(erp.Finding{
		Line: "database", Result: erp.Passed,
		Got: strings.TrimSpace(facts.Product+" "+facts.Version) + ", " + facts.Charset + ", " + source.Target(),
	})
	if err := errors.Join(source.Battery(ctx, show), err); err != nil {
		return err
	}
	if differ > 0 {
		return a.Error("%d {check fails|checks fail}: send nothing from this ERP before you have contacted safrasync support", differ)
	}
	if !a.AsJSON {
		a.Show("The ERP is read correctly. Nothing was written.")
	}
	return nil
}
