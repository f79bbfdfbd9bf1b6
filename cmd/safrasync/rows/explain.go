package rows

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/rehearse"
	"github.com/safrasync/safrasync/trade"
)

// NewExplainCommand makes the command explain.
func NewExplainCommand(a *cli.App) *cobra.Command {
	var rows, offline bool
	cmd := a.Command("explain JOB", "help.explain", cli.Exactly(1), func(cmd *cobra.Command, args []string) error {
		if rows && offline {
			return a.Usage("explain.flags_clash")
		}
		return explain(cmd.Context(), a, args[0], rows, offline)
	})
	cmd.Flags().BoolVar(&rows, "rows", false, "list every row that breaks a rule or waits, not only counts")
	cmd.Flags().BoolVar(&offline, "offline", false, "only the rules in words, without the ERP")
	cmd.ValidArgsFunction = a.CompleteJobs
	return cmd
}

// explainJSON is the last object of `explain --json`.
type explainJSON struct {
	Job       string          `json:"job"`
	Sends     trade.Kind      `json:"sends"`
	Key       []string        `json:"key"`
	ChangedAt *string         `json:"changed_at"`
	Cancelled *cancelledJSON  `json:"cancelled"`
	Invalid   string          `json:"invalid,omitempty"` // the column whose text makes a row an error
	Fields    []fieldRule     `json:"fields"`
	ERP       *rehearse.Audit `json:"erp"` // null with --offline, or if the ERP could not be read

	Identity string         `json:"identity,omitempty"` // key space; absent: the one shared by all jobs that name none
	Twin     trade.Severity `json:"twin"`               // what happens to equal rows
	NearTwin trade.Severity `json:"near_twin"`          // and to rows that are equal in the required fields
	TwinDays int            `json:"twin_days"`
}

type cancelledJSON struct {
	Column string   `json:"column"`
	Values []string `json:"values"`
}

// explain prints the rules of a job in words, then which rows of the ERP break which rule. It
// stores and sends nothing.
func explain(ctx context.Context, a *cli.App, name string, rows, offline bool) error {
	load := a.LoadConfig
	if offline {
		load = func() (*config.Config, error) { return cli.LoadConfigBy(a, config.LoadWithoutSecrets) }
	}
	config, err := load()
	if err != nil {
		return err
	}
	if err := a.CheckJobNames(config, []string{name}); err != nil {
		return err
	}
	jobs, err := office.CompileJobs(config)
	if err != nil {
		return err
	}
	job := jobs[slices.IndexFunc(jobs, func(j *mapping.Job) bool { return j.Name() == name })]
	out := explainJSON{
		Job: name, Sends: job.Spec.Sends, Key: job.Spec.Key, Identity: job.Spec.Identity,
		ChangedAt: cli.OrNull(job.Spec.ChangedAt), Fields: []fieldRule{},
	}
	out.Twin, out.NearTwin, out.TwinDays = job.Spec.Twin.Mode, job.Spec.Twin.Near, job.Spec.Twin.Days
	if c := job.Spec.Cancelled; c != nil {
		out.Cancelled = &cancelledJSON{c.Column, c.Values}
	}
	out.Invalid = job.Spec.Invalid
	v := a.Voice()
	if a.AsJSON {
		v = words.Machine
	}
	for _, rule := range trade.Rules(job.Spec.Sends) {
		out.Fields = append(out.Fields, ruleOf(v, rule, job.Spec))
	}
	if !a.AsJSON {
		printRules(a, out)
	}
	if offline {
		return endExplain(a, out, nil)
	}
	if err := a.Out.Flush(); err != nil { // show the rules before the ERP is read
		return err
	}
	audit, err := auditERP(ctx, a, job, rows)
	if err == nil {
		out.ERP = &audit
	}
	return endExplain(a, out, config.Annotate(err))
}

// endExplain prints what was found. After a fault it prints the rules all the same.
func endExplain(a *cli.App, out explainJSON, fault error) error {
	if a.AsJSON {
		return errors.Join(a.PrintJSON(out), fault)
	}
	if out.ERP != nil {
		column := ""
		if out.Cancelled != nil {
			column = out.Cancelled.Column
		}
		printAudit(a, *out.ERP, column)
	}
	return fault
}

// auditERP reads all rows. If rows is set, it prints those that break a rule as they are found.
func auditERP(ctx context.Context, a *cli.App, job *mapping.Job, rows bool) (rehearse.Audit, error) {
	e, err := cli.OpenReader(ctx, a, true)
	if err != nil {
		return rehearse.Audit{}, err
	}
	var each func(rehearse.Judgement) error
	if rows {
		if !a.AsJSON {
			a.Line("")
			a.Show("explain.rows_title")
		}
		each = func(j rehearse.Judgement) error { return printJudgement(a, j) }
	}
	return e.Audit(ctx, job, each)
}

func printJudgement(a *cli.App, j rehearse.Judgement) error {
	if a.AsJSON {
		j.Problems, j.WaitingFor = cli.OrEmpty(j.Problems), cli.OrEmpty(j.WaitingFor)
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

// printRules prints the rules for people.
func printRules(a *cli.App, out explainJSON) {
	a.Show("explain.title", out.Job, out.Sends)
	a.Show("explain.key", strings.Join(out.Key, " | "))
	if out.Identity != "" {
		a.Show("explain.identity", out.Identity)
	}
	if out.ChangedAt != nil {
		a.Show("explain.changed_at", *out.ChangedAt)
	} else {
		a.Show("explain.no_changed_at")
	}
	within := a.Text("explain.twin_ever")
	if out.TwinDays > 0 {
		within = a.Text("explain.twin_within", out.TwinDays)
	}
	if out.Twin == mapping.TwinHold {
		a.Show("explain.twin_hold", within)
	}
	if out.NearTwin == mapping.TwinHold {
		a.Show("explain.near_twin_hold", within)
	}
	if c := out.Cancelled; c != nil {
		a.Show("explain.cancelled", c.Column, strings.Join(c.Values, ", "))
	}
	if out.Invalid != "" {
		a.Show("explain.invalid", out.Invalid)
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

// printAudit prints the results of the audit for people.
func printAudit(a *cli.App, r rehearse.Audit, cancelledColumn string) {
	a.Line("")
	a.Show("explain.read", r.Read, r.Ready, r.Invalid, r.Waiting, r.Cancelled, r.Unreadable)
	if r.Double > 0 {
		a.Show("explain.double", r.Double, r.DoubleKeys)
	}
	if len(r.Unseen) > 0 {
		a.Line("! " + words.UnseenCancelled(a.Voice(), r.CancelledColumn, cancelledColumn))
	}
	for _, b := range r.Breaches {
		sign := "✗"
		if b.Severity == trade.Warning {
			sign = "!"
		}
		a.Line(a.Text("explain.breach", sign, b.Rows, b.Sample.What(a.Lang()), b.Field, b.Rule))
		if values := words.ValueCounts(b.Values); values != "" {
			a.Show("explain.values", b.Column, values)
		}
		a.Show("explain.keys", strings.Join(b.Keys, ", "))
	}
	for _, s := range r.Missing {
		if s.Job != "" {
			a.Show("explain.parents", s.Rows, s.Job)
		} else {
			a.Show("explain.missing", s.Rows, a.Voice().Own.Explain(trade.Waiting, "ref:"+s.Ref, a.Lang()).What, s.Code)
		}
		a.Show("explain.keys", strings.Join(s.Keys, ", "))
	}
	if len(r.Breaches)+len(r.Missing)+r.Double == 0 {
		a.Show("explain.clean")
	}
}
