package acts

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/words"
	engineacts "github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// rowActFlags are the flags of an act on any number of rows.
type rowActFlags struct {
	cli.ActFlags
	states, causes []string
	count          int // number of rows that --yes confirms; -1 = not given
}

// manyRows is the most rows that a plain yes confirms; for more, the number must be typed.
const manyRows = 50

// NewRetryCommand makes the command retry.
func NewRetryCommand(a *cli.App) *cobra.Command {
	var checked bool
	cmd := rowsCommand(a, "retry", "help.retry", "retry.plan",
		func(acts *engineacts.Acts, ctx context.Context, job string, keys []string) (engineacts.RowPlan, error) {
			return acts.Retry(ctx, job, keys, checked)
		})
	cmd.Flags().BoolVar(&checked, "checked", false,
		"for rows that may double, as the plan says: I have checked that the platform does not have their record")
	return cmd
}

// NewDismissCommand makes the command dismiss.
func NewDismissCommand(a *cli.App) *cobra.Command {
	return rowsCommand(a, "dismiss", "help.dismiss", "dismiss.plan", (*engineacts.Acts).Dismiss)
}

// NewReopenCommand makes the command reopen.
func NewReopenCommand(a *cli.App) *cobra.Command {
	return rowsCommand(a, "reopen", "help.reopen", "reopen.plan", (*engineacts.Acts).Reopen)
}

// planner plans an act on rows.
type planner func(acts *engineacts.Acts, ctx context.Context, job string, keys []string) (engineacts.RowPlan, error)

// rowsCommand makes a command for an act on rows by their keys, or on all rows that a filter selects.
func rowsCommand(a *cli.App, act string, help, title i18n.Key, plan planner) *cobra.Command {
	var f rowActFlags
	cmd := a.Command(act+" JOB [KEY…] --reason TEXT", help, cli.Arity{Least: 1, Most: -1},
		func(cmd *cobra.Command, args []string) error {
			return actOnMany(cmd.Context(), a, act, args[0], args[1:], f, title, plan)
		})
	f.Add(cmd)
	cli.TakesStates(a, cmd, &f.states, "instead of keys: all rows in these `STATES`: ", engineacts.BulkStates(act))
	cli.TakesCauses(a, cmd, &f.causes,
		"instead of keys: all rows with these `CAUSES`, as rows --cause takes them")
	cmd.Flags().IntVar(&f.count, "count", -1,
		"with --yes and more than 50 rows: their number `N`, as the plan shows it")
	cmd.Flags().Lookup("count").DefValue = "0" // help shows no default
	cmd.ValidArgsFunction = a.CompleteRows(engineacts.BulkStates(act)...)
	return cmd
}

func actOnMany(ctx context.Context, a *cli.App, act, job string, keys []string, f rowActFlags, title i18n.Key,
	plan planner,
) error {
	config, err := a.LoadConfig()
	if err != nil {
		return err
	}
	if err := a.CheckJobNames(config, []string{job}); err != nil {
		return err
	}
	if err := a.NeedReason(f.ActFlags); err != nil {
		return err
	}
	filtered := len(f.states)+len(f.causes) > 0
	if filtered == (len(keys) > 0) {
		return a.Usage("act.keys_or_filter")
	}
	states, err := cli.ParseStates(a, f.states, trade.States)
	if err != nil {
		return err
	}
	for _, s := range states {
		if !slices.Contains(engineacts.BulkStates(act), s) {
			return a.Usage("act.not_in_bulk", act, string(s), cli.Listed(engineacts.BulkStates(act)))
		}
	}
	acts, err := a.OpenActs(ctx, cli.ToRead)
	if err != nil {
		return err
	}
	if filtered {
		keys, err = acts.Select(ctx, act, job, states, f.causes)
	} else {
		keys, err = cli.KeysOf(a, config, job, keys)
	}
	if err != nil {
		return err
	}
	p, err := plan(acts, ctx, job, keys)
	if err != nil {
		return err
	}
	return actOnRows(ctx, a, p, f, title)
}

// confirmRows asks whether to do a plan for rows. For more than manyRows rows, their number must be
// typed.
func confirmRows(a *cli.App, plan engineacts.RowPlan, f rowActFlags) error {
	n := plan.Count()
	switch {
	case f.count >= 0 && f.count != n:
		return a.Usage("act.other_count", f.count, n)
	case n <= manyRows:
		return a.Confirm(f.Yes)
	case f.Yes && f.count < 0:
		return a.Usage("act.needs_count", n, n)
	case f.Yes:
		return nil
	}
	return a.Ask(a.Text("act.ask_count", n), func(answer string) bool { return answer == strconv.Itoa(n) })
}

// actOnRows shows what an act would do to rows, asks, and does it. It returns an error if a row was
// refused.
func actOnRows(ctx context.Context, a *cli.App, plan engineacts.RowPlan, f rowActFlags, title i18n.Key) error {
	a.Tell(title)
	tellSteps(a, plan)
	if plan.Possible() {
		if err := confirmRows(a, plan, f); err != nil {
			return err
		}
		acts, err := a.OpenActs(ctx, cli.ToWrite)
		if err != nil {
			return err
		}
		shown := plan
		if plan, err = acts.Do(ctx, shown, a.Person(f.ActFlags)); err != nil {
			if slices.ContainsFunc(plan.Steps, func(s engineacts.RowStep) bool { return s.Done }) {
				a.Tell("act.partly")
			}
			return err
		}
		if plan.Asked != nil {
			return cli.TellAsked(a, *plan.Asked)
		}
	} else {
		a.Tell("act.nothing")
	}
	return tellRows(a, plan)
}

// tellSteps shows the rows of a plan.
func tellSteps(a *cli.App, plan engineacts.RowPlan) {
	cli.TellPlan(a, plan.Steps, func(s engineacts.RowStep) { tellStep(a, plan, s) })
}

// tellStep shows one row of a plan: what would be done and what a person must know for that, or why
// the act is refused.
func tellStep(a *cli.App, plan engineacts.RowPlan, s engineacts.RowStep) {
	v := a.Voice()
	if s.Refused != engineacts.NotRefused {
		a.Tell("act.refused", v.Subject(plan.Job, s.Key, s.Before.Shown), a.Text(refusalOf(s.Refused)))
	} else {
		a.Tell("act.row", v.Subject(plan.Job, s.Key, s.Before.Shown), v.Reason(s.Before))
	}
	for _, text := range slices.Concat(v.Known(s), v.SinceSent(s.Before, s.Differences), decision(v, plan.Act, s)) {
		a.Tell("act.line", text)
	}
	if s.MayDouble && plan.Act == "retry" {
		a.Tell("act.line", a.Text("retry.may_double"))
	}
}

// rowActJSON is what an act prints for one row with --json.
type rowActJSON struct {
	Act     string             `json:"act"`
	Job     string             `json:"job"`
	Key     string             `json:"key"`
	Done    bool               `json:"done"`
	Refused *string            `json:"refused"` // why not; null if it was done
	State   *trade.State       `json:"state"`   // the row's state now; null for an unknown row
	Flags   []trade.Flag       `json:"flags"`
	Changes []trade.Difference `json:"changes"` // the differences that the person was shown

	// Set for resend and adopt only.
	Generation int                  `json:"generation,omitempty"`
	RemoteID   string               `json:"remote_id,omitempty"`
	Remaining  int                  `json:"quarantine_left_seconds,omitempty"`
	Holder     *holderJSON          `json:"holder,omitempty"`
	Reading    *engineacts.Readback `json:"reading,omitempty"`
	Problems   []cli.FieldJSON      `json:"problems,omitempty"`
	WaitingFor []trade.Awaited      `json:"waiting_for,omitempty"`

	MayDouble   bool             `json:"may_double,omitempty"`  // the act may make a second record
	Counterpart *counterpartJSON `json:"counterpart,omitempty"` // what a held row was compared with
}

type counterpartJSON struct {
	Job      string     `json:"job"`
	Key      string     `json:"key"`
	RemoteID *string    `json:"remote_id"` // null: it is not known
	SentAt   *time.Time `json:"sent_at"`   // null: it was not sent
}

type holderJSON struct {
	Job string `json:"job"`
	Key string `json:"key"`
}

func rowActOf(plan engineacts.RowPlan, s engineacts.RowStep) rowActJSON {
	entry := s.Before
	if s.Done {
		entry = s.After
	}
	out := rowActJSON{
		Act: plan.Act, Job: plan.Job, Key: s.Key, Done: s.Done, Refused: cli.OrNull(string(s.Refused)),
		State: cli.OrNull(entry.State),
		Flags: cli.OrEmpty(entry.Flags), Changes: cli.OrEmpty(s.Differences), MayDouble: s.MayDouble,
	}
	if c := s.Counterpart; c != nil {
		out.Counterpart = &counterpartJSON{c.Job, c.Key, cli.OrNull(c.ID), cli.TimeOrNull(c.SentAt)}
	}
	if plan.Act != "resend" && plan.Act != "adopt" {
		return out
	}
	out.Generation, out.RemoteID, out.Remaining, out.Reading = entry.Generation, entry.RemoteID,
		words.RoundUp(s.Remaining), s.Reading
	out.WaitingFor = s.WaitingFor
	for _, p := range s.Problems {
		out.Problems = append(out.Problems, cli.FieldJSON{
			Field: p.Field, Rule: p.Rule, Column: p.Column,
			Value: p.Value,
		})
	}
	if s.Holder != (trade.ParentKey{}) {
		out.Holder = &holderJSON{s.Holder.Job, s.Holder.Key}
	}
	return out
}

func tellRows(a *cli.App, plan engineacts.RowPlan) error {
	refused := false
	for _, s := range plan.Steps {
		refused = refused || !s.Done
		switch {
		case a.AsJSON:
			if err := a.PrintJSON(rowActOf(plan, s)); err != nil {
				return err
			}
		case s.Done:
			a.Show("act.done", a.Voice().Subject(plan.Job, s.Key, s.Before.Shown))
		case s.Refused == engineacts.Moved: // other refusals were shown with the plan
			a.Show("act.refused", a.Voice().Subject(plan.Job, s.Key, s.Before.Shown), a.Text(refusalOf(s.Refused)))
		}
	}
	if refused {
		return &cli.ExitError{Code: cli.ExitFailed}
	}
	return nil
}

// refusalOf returns the key of the text that explains a refusal.
func refusalOf(r engineacts.Refusal) i18n.Key {
	if key := i18n.Key("decision.refused." + r); i18n.CLI.Has(key) {
		return key
	}
	return i18n.Key("refusal." + r)
}
