package commands

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/sync/dryrun"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// explainFlags are the flags of `safrasync explain`.
type explainFlags struct{ rows, offline, sent, askERP, all bool }

// NewExplainCommand makes the command explain.
func NewExplainCommand(a *cli.App) *cobra.Command {
	var f explainFlags
	const use = "explain JOB | --sent [JOB…]"
	cmd := a.Command(use, "explain a job's rules and list the ERP rows that break them; with --sent, what was sent and would differ today; sends nothing", cli.AnyArgs,
		func(ctx context.Context, args []string) error {
			switch {
			case f.sent && (f.rows || f.offline), f.rows && f.offline, !f.sent && (f.askERP || f.all):
				return a.Usage("--rows needs the ERP and cannot be combined with --offline; --erp and --all require --sent, which takes neither --rows nor --offline")
			case f.sent:
				return explainSent(ctx, a, args, f)
			case len(args) != 1:
				return a.Usage("the arguments are: %s", "safrasync "+use)
			}
			name := args[0]
			load := config.Load
			if f.offline {
				load = config.LoadWithoutSecrets
			}
			config, err := cli.LoadConfigBy(a, load)
			if err != nil {
				return err
			}
			if err := a.CheckJobNames(name); err != nil {
				return err
			}
			v := a.Voice()
			if a.AsJSON {
				v = words.Machine
			}
			specs := config.JobSpecs()
			at := slices.IndexFunc(specs, func(j mapping.JobSpec) bool { return j.Name == name })
			out := office.RulesOf(v, specs[at])
			if !a.AsJSON {
				a.Show("Job %s: sends %s", out.Job, out.Sends)
				a.Show("  a row is identified by: %s", strings.Join(out.Key, " | "))
				if out.Identity != "" {
					a.Show("  its keys are compared only with those of jobs of identity: %s", out.Identity)
				}
				if out.ChangedAt != nil {
					a.Show("  changes are found by column %s; the complete sweep finds the rest", *out.ChangedAt)
				} else {
					a.Show("  no change column: every run compares all rows")
				}
				within := a.Text("without a limit of days")
				if out.TwinDays > 0 {
					within = a.Text("up to %d {day|days} apart", out.TwinDays)
				}
				if out.Twin == mapping.TwinHold {
					a.Show("  two identical rows: the one read first is sent, the other is held until somebody decides (checks.twin: hold, %s)", within)
				}
				if out.NearTwin == mapping.TwinHold {
					a.Show("  two rows that are equal in every field that the API always requires, with another price or another optional field: the same (checks.near_twin: hold, %s)", within)
				}
				if c := out.Cancelled; c != nil {
					a.Show("  cancelled when %s is: %s", c.Column, strings.Join(c.Values, ", "))
				}
				if out.Invalid != "" {
					a.Show("  a text in column %s makes the row an error with that text", out.Invalid)
				}
				for _, f := range out.Fields {
					a.Line("")
					title := f.Field
					if label := trade.FieldLabel(f.Field, a.Lang()); label != f.Field {
						title += " (" + label + ")"
					}
					a.Line(title)
					for _, s := range f.Sentences {
						a.Line("  - " + s)
					}
				}
			}
			if f.offline {
				return endExplain(a, out, nil)
			}
			if err := a.Out.Flush(); err != nil { // show the rules before the ERP is read
				return err
			}
			audit, err := auditERP(ctx, a, name, f.rows)
			if err == nil {
				out.ERP = &audit
			}
			return endExplain(a, out, config.Annotate(err))
		})
	flags := cmd.Flags()
	flags.BoolVar(&f.rows, "rows", false, "list every row that breaks a rule or waits, not only counts")
	flags.BoolVar(&f.offline, "offline", false, "only the rules in words, without the ERP")
	flags.BoolVar(&f.sent, "sent", false,
		"map everything that was sent with the configuration of now, and tell what would differ")
	flags.BoolVar(&f.askERP, "erp", false,
		"with --sent: read columns that were not mapped then, and references, from the ERP")
	flags.BoolVar(&f.all, "all", false, "with --sent --json: rows that would be the same too")
	cmd.ValidArgsFunction = a.CompleteEveryJob
	return cmd
}

// endExplain prints what was found. After a fault it prints the rules all the same.
func endExplain(a *cli.App, out office.JobRules, fault error) error {
	if a.AsJSON {
		return errors.Join(a.PrintJSON(out), fault)
	}
	if out.ERP != nil {
		column := ""
		if out.Cancelled != nil {
			column = out.Cancelled.Column
		}
		a.Line("")
		a.Show("In the ERP now: %d {row|rows} read; %d ready, %d with errors, %d waiting, %d cancelled, %d without a usable key", out.ERP.Read, out.ERP.Ready, out.ERP.Invalid, out.ERP.Waiting,
			out.ERP.Cancelled, out.ERP.Unreadable)
		if out.ERP.Double > 0 {
			a.Show("! %d {row|rows} with a key that appears more than once (%d {key|keys}): they are not sent, whatever their data", out.ERP.Double, out.ERP.DoubleKeys)
		}
		if len(out.ERP.Unseen) > 0 {
			a.Line("! " + words.UnseenCancelled(a.Voice(), out.ERP.CancelledColumn, column))
		}
		for _, b := range out.ERP.Breaches {
			sign := "✗"
			if b.Severity == trade.Warning {
				sign = "!"
			}
			a.Line(a.Text("%s %d × %s [%s: %s]", sign, b.Rows, b.Sample.What(a.Lang()), b.Field, b.Rule))
			if values := words.ValueCounts(b.Values); values != "" {
				a.Show("    column %s: %s", b.Column, values)
			}
			a.Show("    rows: %s", strings.Join(b.Keys, ", "))
		}
		for _, s := range out.ERP.Missing {
			if s.Job != "" {
				a.Show("… %d × waits for a row of job %s", s.Rows, s.Job)
			} else {
				a.Show("… %d × %s: code %s", s.Rows, trade.Explain(trade.Waiting, "ref:"+s.Ref, a.Lang()).What, s.Code)
			}
			a.Show("    rows: %s", strings.Join(s.Keys, ", "))
		}
		if len(out.ERP.Breaches)+len(out.ERP.Missing)+out.ERP.Double == 0 {
			a.Show("No row breaks a rule.")
		}
	}
	return fault
}

// auditERP reads all rows. If rows is set, it prints those that break a rule as they are found.
func auditERP(ctx context.Context, a *cli.App, job string, rows bool) (dryrun.Audit, error) {
	o, err := a.Office(ctx, cli.ToRead, cli.ERPNeeded)
	if err != nil {
		return dryrun.Audit{}, err
	}
	var each func(dryrun.Judgement) error
	if rows {
		if !a.AsJSON {
			a.Line("")
			a.Show("Rows that are not sent as they are, or are sent with a remark:")
		}
		each = func(j dryrun.Judgement) error {
			if a.AsJSON {
				j.Problems, j.WaitingFor = office.InEnglish(j.Problems), office.OrEmpty(j.WaitingFor)
				return a.PrintJSON(j)
			}
			a.Line("  " + j.Key + " (" + j.State.Label(a.Lang()) + ")")
			for _, p := range j.Problems {
				a.Line("    - " + p.Sentence(a.Lang()))
			}
			for _, text := range a.Voice().Awaited(j.WaitingFor) {
				a.Line("    - " + text)
			}
			return nil
		}
	}
	return o.Audit(ctx, job, each)
}

// explainSent applies the current configuration to the rows that were sent, and prints which
// payloads would differ. It stores and sends nothing.
func explainSent(ctx context.Context, a *cli.App, names []string, f explainFlags) error {
	if err := a.CheckJobNames(names...); err != nil {
		return err
	}
	use := cli.ERPUnasked
	if f.askERP {
		use = cli.ERPNeeded
	}
	o, err := a.Office(ctx, cli.ToRead, use)
	if err != nil {
		return err
	}
	each := func(d dryrun.Difference) error {
		if !a.AsJSON || d.Verdict == dryrun.WouldBeTheSame && !f.all {
			return nil
		}
		return a.PrintJSON(d)
	}
	for _, job := range o.Jobs() {
		if len(names) > 0 && !slices.Contains(names, job.Name) {
			continue
		}
		sent, err := o.Sent(ctx, job.Name, f.askERP, each)
		if err != nil {
			return a.Config.Annotate(err)
		}
		if a.AsJSON {
			err = a.PrintJSON(sent)
		} else {
			printSent(a, sent, f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sentShown is how many changes of one field are printed; JSON has all that are kept.
const sentShown = 10

// printSent prints the differences for people.
func printSent(a *cli.App, c *office.Sent, f explainFlags) {
	v := c.Verdicts
	a.Show("%s: %d {row|rows} sent; with the current configuration: %d the same, %d different, %d would be refused, %d would wait, %d not comparable", c.Job, c.Rows, v[dryrun.WouldBeTheSame], v[dryrun.WouldDiffer], v[dryrun.WouldBeRefused],
		v[dryrun.WouldWait], v[dryrun.NotComparable])
	total, shown := map[string]int{}, map[string]int{}
	absent := a.Text("(absent)")
	for _, change := range c.Changes {
		total[change.Field] += change.Rows
	}
	for field, rows := range c.More {
		total[field] += rows
	}
	for _, change := range c.Changes {
		shown[change.Field]++
		if shown[change.Field] == 1 {
			a.Show("  %d × %s (%s)", total[change.Field], change.Field, trade.FieldLabel(change.Field, a.Lang()))
		}
		if shown[change.Field] <= sentShown {
			a.Show("      %d × %s → %s   rows: %s", change.Rows, cmp.Or(change.Old, absent), cmp.Or(change.New, absent),
				strings.Join(change.Keys, ", "))
		}
		if shown[change.Field] == sentShown+1 {
			a.Show("      … and others; --json shows more of %s", change.Field)
		}
	}
	for _, id := range sortedSamples(c.Problems, func(id [2]string) string { return id[0] + " " + id[1] }) {
		s := c.Problems[id]
		a.Show("  ✗ %d × %s   rows: %s", s.Rows, s.Problem.What(a.Lang()), strings.Join(s.Keys, ", "))
	}
	for _, w := range sortedSamples(c.Waiting, func(w trade.Awaited) string { return w.Ref + w.Code + w.Job }) {
		s := c.Waiting[w]
		a.Show("  … %d × would wait for %s   rows: %s", s.Rows, strings.TrimSpace(w.Ref+" "+w.Code+" "+w.Job),
			strings.Join(s.Keys, ", "))
	}
	for _, column := range config.SortedKeys(c.Unmapped) {
		a.Show("  not comparable in %d {row|rows}: column %s was not mapped when they were sent", c.Unmapped[column], column)
	}
	if len(c.Unmapped) > 0 && !f.askERP {
		a.Show("    with --erp these columns are read from the ERP as they are now")
	}
	if c.NoBody > 0 {
		a.Show("  not comparable in %d {row|rows}: the request that was sent is no longer kept", c.NoBody)
	}
	for _, unit := range slices.Sorted(maps.Keys(c.Sums)) {
		if s := c.Sums[unit]; s.Rows > 0 || s.Now.Sign() != 0 {
			name, v := string(unit), a.Voice()
			if name == "" {
				name = a.Text("without a unit")
			} else {
				name = a.Text("in %s", name)
			}
			a.Show("  sum %s: %d {row|rows} sent with %s; it would be %s (difference %s)", name, s.Rows, v.Number(s.Sent), v.Number(s.Now), v.Number(s.Now.Sub(s.Sent)))
		}
	}
}

func sortedSamples[K comparable](m map[K]*office.SentSample, name func(K) string) []K {
	out := slices.SortedFunc(maps.Keys(m),
		func(x, y K) int { return cmp.Or(cmp.Compare(m[y].Rows, m[x].Rows), cmp.Compare(name(x), name(y))) })
	return out[:min(len(out), 4*sentShown)]
}
