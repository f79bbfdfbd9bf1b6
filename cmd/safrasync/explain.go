package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

func newExplainCommand(a *App) *cobra.Command {
	var rows, offline bool
	cmd := a.command("explain JOB", "help.explain", exactly(1), func(cmd *cobra.Command, args []string) error {
		if rows && offline {
			return a.usage("explain.flags_clash")
		}
		return a.explain(cmd.Context(), args[0], rows, offline)
	})
	cmd.Flags().BoolVar(&rows, "rows", false, "list every row that breaks a rule or waits, not only counts")
	cmd.Flags().BoolVar(&offline, "offline", false, "only the rules in words, without the ERP")
	return cmd
}

// explainJSON is the last object of `explain --json`.
type explainJSON struct {
	Job       string         `json:"job"`
	Sends     trade.Kind     `json:"sends"`
	Key       []string       `json:"key"`
	ChangedAt *string        `json:"changed_at"`
	Cancelled *cancelledJSON `json:"cancelled"`
	Fields    []fieldRule    `json:"fields"`
	ERP       *engine.Audit  `json:"erp"` // null with --offline, or when the ERP could not be read

	Identity string         `json:"identity,omitempty"` // key space; absent: that of all jobs which name none
	Twin     trade.Severity `json:"twin"`               // what happens to equal rows
	TwinDays int            `json:"twin_days"`
}

type cancelledJSON struct {
	Column string   `json:"column"`
	Values []string `json:"values"`
}

// explain tells the rules of a job in words, then which rows of the ERP break which. Nothing is
// stored or sent.
func (a *App) explain(ctx context.Context, name string, rows, offline bool) error {
	load := a.loadConfig
	if offline {
		load = func() (*Config, error) { return a.loadConfigBy(loadConfigWithoutSecrets) }
	}
	config, err := load()
	if err != nil {
		return err
	}
	if err := a.checkJobNames(config, []string{name}); err != nil {
		return err
	}
	jobs, err := compileJobs(config)
	if err != nil {
		return err
	}
	job := jobs[slices.IndexFunc(jobs, func(j *engine.Job) bool { return j.Name() == name })]
	out := explainJSON{
		Job: name, Sends: job.Spec.Sends, Key: job.Spec.Key, Identity: job.Spec.Identity,
		ChangedAt: orNull(job.Spec.ChangedAt), Fields: []fieldRule{},
	}
	out.Twin, out.TwinDays = job.Spec.Twin.Mode, job.Spec.Twin.Days
	if c := job.Spec.Cancelled; c != nil {
		out.Cancelled = &cancelledJSON{c.Column, c.Values}
	}
	v := a.voice()
	if a.asJSON {
		v = machine
	}
	for _, rule := range trade.Rules(job.Spec.Sends) {
		out.Fields = append(out.Fields, ruleOf(v, rule, job.Spec))
	}
	if !a.asJSON {
		a.printRules(out)
	}
	if offline {
		return a.endExplain(out, nil)
	}
	if err := a.out.Flush(); err != nil { // the words are there while the ERP is read
		return err
	}
	audit, err := a.auditERP(ctx, job, rows)
	if err == nil {
		out.ERP = &audit
	}
	return a.endExplain(out, config.Annotate(err))
}

// endExplain writes what was found; a fault does not take away the words.
func (a *App) endExplain(out explainJSON, fault error) error {
	if a.asJSON {
		return errors.Join(a.printJSON(out), fault)
	}
	if out.ERP != nil {
		column := ""
		if out.Cancelled != nil {
			column = out.Cancelled.Column
		}
		a.printAudit(*out.ERP, column)
	}
	return fault
}

// auditERP reads all rows and tells those that break a rule, as they are found, when rows says so.
func (a *App) auditERP(ctx context.Context, job *engine.Job, rows bool) (engine.Audit, error) {
	store, err := a.openLedger(ctx, toRead)
	if err != nil {
		return engine.Audit{}, err
	}
	source, err := a.openERP(ctx)
	if err != nil {
		return engine.Audit{}, err
	}
	e, err := a.openEngine(store, source, nil)
	if err != nil {
		return engine.Audit{}, err
	}
	var each func(engine.Judgement) error
	if rows {
		if !a.asJSON {
			a.line("")
			a.show("explain.rows_title")
		}
		each = a.printJudgement
	}
	return e.Audit(ctx, job, each)
}

func (a *App) printJudgement(j engine.Judgement) error {
	if a.asJSON {
		j.Problems, j.WaitingFor = orEmpty(j.Problems), orEmpty(j.WaitingFor)
		return a.printJSON(j)
	}
	a.line("  " + j.Key + " (" + j.State.Label(a.lang()) + ")")
	for _, p := range j.Problems {
		a.line("    - " + p.Sentence(a.lang()))
	}
	for _, text := range a.voice().awaited(j.WaitingFor) {
		a.line("    - " + text)
	}
	return nil
}

// printRules writes the rules for people.
func (a *App) printRules(out explainJSON) {
	a.show("explain.title", out.Job, out.Sends)
	a.show("explain.key", strings.Join(out.Key, " | "))
	if out.Identity != "" {
		a.show("explain.identity", out.Identity)
	}
	if out.ChangedAt != nil {
		a.show("explain.changed_at", *out.ChangedAt)
	} else {
		a.show("explain.no_changed_at")
	}
	if out.Twin == engine.TwinHold {
		a.show("explain.twin_hold", out.TwinDays)
	}
	if c := out.Cancelled; c != nil {
		a.show("explain.cancelled", c.Column, strings.Join(c.Values, ", "))
	}
	for _, f := range out.Fields {
		a.line("")
		title := f.Field
		if label := trade.FieldLabel(f.Field, a.lang()); label != f.Field {
			title += " (" + label + ")"
		}
		a.line(title)
		for _, s := range f.Sentences {
			a.line("  - " + s)
		}
	}
}

// unseenCancelled says that no row has some values of `cancelled`, and what there is.
func (v voice) unseenCancelled(c engine.CancelledColumn, column string) string {
	there := shownValueCounts(c.Values)
	for _, value := range c.Values {
		if value.Value == "" {
			there = strings.TrimPrefix(there+", "+v.text("value.blank", value.Rows), ", ")
		}
	}
	return v.text("check.unseen", strings.Join(c.Unseen, ", "), column, there)
}

// printAudit writes what was found for people.
func (a *App) printAudit(r engine.Audit, cancelledColumn string) {
	a.line("")
	a.show("explain.read", r.Read, r.Ready, r.Invalid, r.Waiting, r.Cancelled, r.Unreadable)
	if r.Double > 0 {
		a.show("explain.double", r.Double, r.DoubleKeys)
	}
	if len(r.Unseen) > 0 {
		a.line("! " + a.voice().unseenCancelled(r.CancelledColumn, cancelledColumn))
	}
	for _, b := range r.Breaches {
		sign := "✗"
		if b.Severity == trade.Warning {
			sign = "!"
		}
		a.line(a.text("explain.breach", sign, b.Rows, b.Sample.What(a.lang()), b.Field, b.Rule))
		if values := shownValueCounts(b.Values); values != "" {
			a.show("explain.values", b.Column, values)
		}
		a.show("explain.keys", strings.Join(b.Keys, ", "))
	}
	for _, s := range r.Missing {
		if s.Job != "" {
			a.show("explain.parents", s.Rows, s.Job)
		} else {
			a.show("explain.missing", s.Rows, a.voice().own.Explain(trade.Waiting, "ref:"+s.Ref, a.lang()).What, s.Code)
		}
		a.show("explain.keys", strings.Join(s.Keys, ", "))
	}
	if len(r.Breaches)+len(r.Missing)+r.Double == 0 {
		a.show("explain.clean")
	}
}
