package acts

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/words"
	engineacts "github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// NewAdoptCommand makes the command adopt.
func NewAdoptCommand(a *cli.App) *cobra.Command {
	var f cli.ActFlags
	var adoption engineacts.Adoption
	cmd := a.Command("adopt JOB KEY ID --reason TEXT", "help.adopt", cli.Arity{Least: 2, Most: 3},
		func(cmd *cobra.Command, args []string) error {
			if adoption.NoID == (len(args) == 3) {
				return a.Usage("adopt.id_or_none")
			}
			if !adoption.NoID {
				adoption.ID = args[2]
			}
			return decide(cmd.Context(), a, args[0], args[1:2], f, "adopt.plan",
				func(ctx context.Context, acts *engineacts.Acts, keys []string) (engineacts.RowPlan, error) {
					client, err := a.OpenAPI()
					if err != nil {
						return engineacts.RowPlan{}, err
					}
					acts.Platform = client
					if acts.Rows, err = cli.OpenReader(ctx, a, false); err != nil {
						return engineacts.RowPlan{}, err
					}
					return acts.Adopt(ctx, args[0], keys[0], adoption)
				})
		})
	f.Add(cmd)
	cmd.Flags().BoolVar(&adoption.NoID, "no-id", false,
		"it was seen on the platform, and its id is not known: for deliveries and traceability only")
	cmd.Flags().BoolVar(&adoption.DespiteDifferences, "despite-differences", false,
		"although the platform's record is not what was sent: the plan shows where")
	cmd.ValidArgsFunction = a.CompleteRows(trade.Decidable...)
	return cmd
}

// NewResendCommand makes the command resend.
func NewResendCommand(a *cli.App) *cobra.Command {
	var f cli.ActFlags
	var checked bool
	cmd := a.Command("resend JOB KEY --checked --reason TEXT", "help.resend", cli.Exactly(2),
		func(cmd *cobra.Command, args []string) error {
			return decide(cmd.Context(), a, args[0], args[1:], f, "resend.plan",
				func(ctx context.Context, acts *engineacts.Acts, keys []string) (engineacts.RowPlan, error) {
					return planResend(ctx, a, acts, args[0], keys[0], checked)
				})
		})
	f.Add(cmd)
	cmd.Flags().BoolVar(&checked, "checked", false, "I have checked on the platform, and the record is not there")
	cmd.ValidArgsFunction = a.CompleteRows(trade.InDoubt)
	return cmd
}

// decide plans and does an act on rows that are named one by one.
func decide(ctx context.Context, a *cli.App, job string, keys []string, f cli.ActFlags, title i18n.Key,
	plan func(context.Context, *engineacts.Acts, []string) (engineacts.RowPlan, error),
) error {
	config, err := a.LoadConfig()
	if err != nil {
		return err
	}
	if err := a.NeedReason(f); err != nil {
		return err
	}
	if keys, err = cli.KeysOf(a, config, job, keys); err != nil {
		return err
	}
	acts, err := a.OpenActs(ctx, cli.ToRead)
	if err != nil {
		return err
	}
	p, err := plan(ctx, acts, keys)
	if err != nil {
		return err
	}
	return actOnRows(ctx, a, p, rowActFlags{ActFlags: f, count: -1}, title)
}

// planResend plans a second sending. If this host has not known of the doubt since it booted, the
// quarantine begins now, because the time that passed before cannot be proved.
func planResend(ctx context.Context, a *cli.App, acts *engineacts.Acts, job, key string,
	checked bool,
) (engineacts.RowPlan, error) {
	var err error
	if acts.Rows, err = cli.OpenReader(ctx, a, false); err != nil {
		return engineacts.RowPlan{}, err
	}
	plan, err := acts.Resend(ctx, job, key, checked)
	if err != nil || plan.Steps[0].Refused != engineacts.InQuarantine {
		return plan, err
	}
	writing, err := a.OpenActs(ctx, cli.ToWrite)
	if err != nil {
		return plan, err
	}
	return plan, writing.Watch(ctx, job)
}

// decision returns what a person must know before deciding about a row that may be on the platform.
func decision(v words.Voice, act string, s engineacts.RowStep) []string {
	if act != "resend" && act != "adopt" || s.Before.ID == 0 {
		return nil
	}
	var out []string
	say := func(p i18n.Key, args ...any) { out = append(out, v.Text(p, args...)) }
	for _, t := range s.Attempts {
		at := t.FinishedAt
		if at.IsZero() {
			at = t.StartedAt
		}
		say("decide.attempt", t.No, v.Moment(at), v.Text(i18n.Key("outcome."+words.OutcomeName(t.Outcome))),
			v.OutcomeReason(t.Status, t.Messages, t.Reason))
		if phase := words.PhaseOf(t.Evidence); phase != "" {
			say("decide.phase", v.Text(i18n.Key("phase."+phase)))
		}
		if t.RemoteID != "" {
			say("decide.id", t.RemoteID)
		}
	}
	if s.Remaining > 0 {
		say("decide.remaining", v.Span(s.Remaining))
	}
	switch {
	case s.GivesUp != nil:
		say("decide.gives", s.Holder.Job, s.Holder.Key)
	case s.Holder != (trade.ParentKey{}):
		say("decide.holder", s.Holder.Job, s.Holder.Key)
	}
	if sent := engineacts.SentFields(s.Before); act == "resend" && len(sent) > 0 {
		var fields []string
		for _, f := range sent {
			fields = append(fields, trade.FieldLabel(f.Field, v.Lang)+" "+*f.Sent)
		}
		say("decide.look", strings.Join(fields, "; "))
		if s.Refused == engineacts.NotRefused || s.Refused == engineacts.NotChecked {
			say("decide.may_double")
		}
	}
	for _, p := range s.Problems {
		out = append(out, p.Sentence(v.Lang))
	}
	out = append(out, v.Awaited(s.WaitingFor)...)
	if r := s.Reading; r != nil {
		for _, f := range r.Fields {
			if !f.Same {
				say("decide.field", trade.FieldLabel(f.Field, v.Lang), v.OrAbsent(f.Sent), v.OrAbsent(f.There))
			}
		}
		say("decide.compared", r.Same, r.Differ, len(r.Unseen))
	}
	return out
}
