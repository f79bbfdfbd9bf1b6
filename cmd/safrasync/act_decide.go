package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/internal/i18n"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

func newAdoptCommand(a *App) *cobra.Command {
	var f actFlags
	var adoption engine.Adoption
	cmd := a.command("adopt JOB KEY ID --reason TEXT", "help.adopt", arity{2, 3},
		func(cmd *cobra.Command, args []string) error {
			if adoption.NoID == (len(args) == 3) {
				return a.usage("adopt.id_or_none")
			}
			if !adoption.NoID {
				adoption.ID = args[2]
			}
			return a.decide(cmd.Context(), args[0], args[1], f, "adopt.plan",
				func(ctx context.Context, acts *engine.Acts, key string) (engine.RowPlan, error) {
					client, err := a.openAPI()
					if err != nil {
						return engine.RowPlan{}, err
					}
					acts.Platform = client
					if acts.Rows, err = a.remapper(ctx); err != nil {
						return engine.RowPlan{}, err
					}
					return acts.Adopt(ctx, args[0], key, adoption)
				})
		})
	f.add(cmd)
	cmd.Flags().BoolVar(&adoption.NoID, "no-id", false,
		"it was seen on the platform, and its id is not known: for deliveries and traceability only")
	cmd.Flags().BoolVar(&adoption.DespiteDifferences, "despite-differences", false,
		"although the platform's record is not what was sent: the plan shows where")
	cmd.ValidArgsFunction = a.completeRows(trade.InDoubt, trade.Held)
	return cmd
}

func newResendCommand(a *App) *cobra.Command {
	var f actFlags
	var checked bool
	cmd := a.command("resend JOB KEY --checked --reason TEXT", "help.resend", exactly(2),
		func(cmd *cobra.Command, args []string) error {
			return a.decide(cmd.Context(), args[0], args[1], f, "resend.plan",
				func(ctx context.Context, acts *engine.Acts, key string) (engine.RowPlan, error) {
					return a.planResend(ctx, acts, args[0], key, checked)
				})
		})
	f.add(cmd)
	cmd.Flags().BoolVar(&checked, "checked", false, "I have looked on the platform, and the record is not there")
	cmd.ValidArgsFunction = a.completeRows(trade.InDoubt)
	return cmd
}

// decide plans and does an act on one row by which a record may be doubled, or hidden.
func (a *App) decide(ctx context.Context, job, key string, f actFlags, title i18n.Key,
	plan func(context.Context, *engine.Acts, string) (engine.RowPlan, error),
) error {
	config, err := a.loadConfig()
	if err != nil {
		return err
	}
	if err := a.needReason(f); err != nil {
		return err
	}
	if key, err = a.checkKey(config, job, key); err != nil {
		return err
	}
	acts, err := a.openActs(ctx, toRead)
	if err != nil {
		return err
	}
	p, err := plan(ctx, acts, key)
	if err != nil {
		return err
	}
	return a.actOnRows(ctx, p, rowActFlags{actFlags: f, count: -1}, title)
}

// planResend plans a second sending. Where this host has not known of the doubt since its start,
// its quarantine begins here: what passed before cannot be proved.
func (a *App) planResend(ctx context.Context, acts *engine.Acts, job, key string,
	checked bool,
) (engine.RowPlan, error) {
	var err error
	if acts.Rows, err = a.remapper(ctx); err != nil {
		return engine.RowPlan{}, err
	}
	plan, err := acts.Resend(ctx, job, key, checked)
	if err != nil || plan.Steps[0].Refused != engine.InQuarantine {
		return plan, err
	}
	writing, err := a.openActs(ctx, toWrite)
	if err != nil {
		return plan, err
	}
	return plan, writing.Watch(ctx, job)
}

// remapper reads rows as the ERP has them now.
func (a *App) remapper(ctx context.Context) (engine.Remapper, error) {
	store, err := a.openLedger(ctx, toRead)
	if err != nil {
		return nil, err
	}
	source, _ := a.openSource(ctx) // the reason comes back from the engine's first question
	return a.openEngine(store, source, nil)
}

// decision tells what a person must know who decides about a row that may be on the platform.
func (v voice) decision(act string, s engine.RowStep) []string {
	if act != "resend" && act != "adopt" || s.Before.ID == 0 {
		return nil
	}
	var out []string
	say := func(p i18n.Key, args ...any) { out = append(out, v.text(p, args...)) }
	for _, t := range s.Attempts {
		at := t.FinishedAt
		if at.IsZero() {
			at = t.StartedAt
		}
		say("decide.attempt", t.No, v.moment(at), v.text(i18n.Key("outcome."+outcomeName(t.Outcome))),
			v.outcomeReason(t.Status, t.Messages, t.Reason))
		if phase := phaseOf(t.Evidence); phase != "" {
			say("decide.phase", v.text(i18n.Key("phase."+phase)))
		}
		if t.RemoteID != "" {
			say("decide.id", t.RemoteID)
		}
	}
	if s.Remaining > 0 {
		say("decide.remaining", v.span(s.Remaining))
	}
	switch {
	case s.Gives != nil:
		say("decide.gives", s.Holder.Job, s.Holder.Key)
	case s.Holder != (trade.ParentKey{}):
		say("decide.holder", s.Holder.Job, s.Holder.Key)
	}
	if sent := engine.SentFields(s.Before); act == "resend" && len(sent) > 0 {
		var fields []string
		for _, f := range sent {
			fields = append(fields, trade.FieldLabel(f.Field, v.lang)+" "+*f.Sent)
		}
		say("decide.look", strings.Join(fields, "; "))
		if s.Refused == engine.NotRefused || s.Refused == engine.NotChecked {
			say("decide.may_double")
		}
	}
	for _, p := range s.Problems {
		out = append(out, p.Sentence(v.lang))
	}
	out = append(out, v.awaited(s.WaitingFor)...)
	if r := s.Reading; r != nil {
		for _, f := range r.Fields {
			if !f.Same {
				say("decide.field", trade.FieldLabel(f.Field, v.lang), v.orAbsent(f.Sent), v.orAbsent(f.There))
			}
		}
		say("decide.compared", r.Same, r.Differ, len(r.Unseen))
	}
	return out
}
