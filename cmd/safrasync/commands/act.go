package commands

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// rowActFlags are the flags of an act on rows.
type rowActFlags struct {
	cli.ActFlags
	states, causes []string
	count          int // number of rows that --yes confirms; -1 = not given
	checked        bool
	noID, despite  bool
}

// manyRows is the most rows that a plain yes confirms; for more, the number must be typed.
const manyRows = 50

// NewActCommands makes a command for each act on rows and jobs that the table has, except for a run,
// which `safrasync sync` does.
func NewActCommands(a *cli.App) []*cobra.Command {
	var out []*cobra.Command
	for _, kind := range acts.Table {
		switch kind.On {
		case acts.OneRow, acts.SomeRows, acts.AllRows:
			// on one row, on some by their keys, or on all that a filter selects
			f := rowActFlags{count: -1}
			use, arity := "JOB KEY", cli.Exactly(2)
			switch {
			case kind.On == acts.AllRows:
				use, arity = "JOB [KEY…]", cli.Arity{Least: 1, Most: -1}
			case kind.On == acts.SomeRows:
				use, arity = "JOB KEY…", cli.Arity{Least: 2, Most: -1}
			case kind.Gives:
				use, arity = "JOB KEY ID", cli.Arity{Least: 2, Most: 3}
			case kind.Checked:
				use += " --checked"
			}
			cmd := a.Command(kind.Name+" "+use+" --reason TEXT", "help."+kind.Name, arity,
				func(ctx context.Context, args []string) error { return actOnRows(ctx, a, kind, args, f) })
			f.Add(cmd)
			flags := cmd.Flags()
			if kind.Checked {
				flags.BoolVar(&f.checked, "checked", false, checkedUsage)
			}
			if kind.Gives {
				flags.BoolVar(&f.noID, "no-id", false,
					"it was seen on the platform, and its id is not known: for deliveries and traceability only")
				flags.BoolVar(&f.despite, "despite-differences", false,
					"although the platform's record is not what was sent: the plan shows where")
			}
			offered := kind.In
			if kind.On == acts.AllRows {
				offered = acts.BulkStates(kind.Name)
				cli.AddStateFlag(a, cmd, &f.states, "instead of keys: all rows in these `STATES`: %s", offered)
				cli.AddCauseFlag(a, cmd, &f.causes,
					"instead of keys: all rows with these `CAUSES`, as rows --cause takes them")
				flags.IntVar(&f.count, "count", -1,
					"with --yes and more than 50 rows: their number `N`, as the plan shows it")
				flags.Lookup("count").DefValue = "0" // help shows no default
			}
			cmd.ValidArgsFunction = a.CompleteRows(offered...)
			out = append(out, cmd)
		case acts.OneJob:
			if kind.Name != acts.ActRun {
				out = append(out, jobCommand(a, kind))
			}
		case acts.Other:
		}
	}
	return out
}

const checkedUsage = "for rows that may double, as the plan says: I have checked that the platform does not have their record"

// actOnRows plans an order for rows, shows the plan, asks, and does it. It returns an
// error if a row was refused.
func actOnRows(ctx context.Context, a *cli.App, kind acts.Act, args []string, f rowActFlags) error {
	if err := a.CheckJobNames(args[0]); err != nil {
		return err
	}
	if err := a.NeedReason(f.ActFlags); err != nil {
		return err
	}
	order := acts.Order{
		Act: kind.Name, Job: args[0], Causes: f.causes, Checked: f.checked, NoID: f.noID, DespiteDifferences: f.despite,
	}
	keys := args[1:]
	if kind.Gives {
		if f.noID == (len(args) == 3) {
			return a.Usage("give either the id or --no-id, not both")
		}
		if !f.noID {
			order.ID = args[2]
		}
		keys = args[1:2]
	}
	if filtered := len(f.states)+len(f.causes) > 0; filtered == (len(keys) > 0) {
		return a.Usage("give either keys or a filter (--state, --cause), not both")
	}
	var err error
	order.States, err = cli.ParseStates(a, f.states, trade.States)
	if err != nil {
		return err
	}
	bulk := acts.BulkStates(kind.Name)
	for _, s := range order.States {
		if !slices.Contains(bulk, s) {
			return a.Usage("%s with a filter does not apply to rows in %s; only to: %s", kind.Name, string(s), cli.Listed(bulk))
		}
	}
	order.Keys, err = cli.KeysOf(a, order.Job, keys)
	if err != nil {
		return err
	}
	how, use := cli.ToRead, cli.NoERP
	if kind.ERP {
		use = cli.ERPIfThere
	}
	if kind.Writes {
		how = cli.ToWrite
	}
	o, err := a.Office(ctx, how, use)
	if err != nil {
		return err
	}
	plan, err := o.Plan(ctx, order)
	if err != nil {
		return err
	}
	a.Tell("act.plan." + plan.Act)
	printSteps(a, plan)
	if plan.Weak > 0 {
		a.Tell("%d left out: refused in no form of the API; one at a time, with --checked", plan.Weak)
	}
	if plan.Possible() {
		n := plan.Count()
		switch {
		case f.count >= 0 && f.count != n:
			err = a.Usage("--count says %d, but the plan has %d {row|rows}; check the plan again", f.count, n)
		case n <= manyRows:
			err = a.Confirm(f.Yes)
		case f.Yes && f.count < 0:
			err = a.Usage("this affects %d {row|rows}: --yes also needs --count %d", n, n)
		case f.Yes:
		default:
			number := a.Text("This affects %d {row|rows}. Type the number to continue: ", n)
			err = a.Ask(number, func(answer string) bool { return answer == strconv.Itoa(n) })
		}
		if err != nil {
			return err
		}
		o, err = a.Office(ctx, cli.ToWrite, cli.NoERP)
		if err != nil {
			return err
		}
		plan, err = o.DoShown(ctx, plan, a.Person(f.ActFlags))
		if err != nil {
			if slices.ContainsFunc(plan.Steps, func(s acts.RowStep) bool { return s.Done }) {
				a.Tell("Some of the rows are already done; repeat the command for the rest.")
			}
			return err
		}
		if plan.Asked != nil {
			return cli.PrintAsked(a, *plan.Asked)
		}
	} else {
		a.Tell("There is nothing to do.")
	}
	failed, err := printDone(a, plan)
	if err != nil {
		return err
	}
	return cli.FailedIf(failed)
}

// printDone prints what came of each step, and reports whether one was not done.
func printDone(a *cli.App, plan acts.RowPlan) (failed bool, err error) {
	for _, s := range plan.Steps {
		failed = failed || !s.Done
		switch {
		case a.AsJSON:
			if err := a.PrintJSON(office.RowActOf(plan, s)); err != nil {
				return failed, err
			}
		case s.Done:
			a.Show("%s: done", a.Voice().Subject(plan.Job, s.Key, s.Before.Shown))
		case s.Refused == acts.Moved: // other refusals were shown with the plan
			a.Show("%s: not possible: %s", a.Voice().Subject(plan.Job, s.Key, s.Before.Shown),
				a.Text(refusalOf(s.Refused)))
		}
	}
	return failed, nil
}

// printSteps shows the rows of a plan.
func printSteps(a *cli.App, plan acts.RowPlan) {
	cli.PrintPlan(a, plan.Steps, func(s acts.RowStep) {
		v := a.Voice()
		if s.Refused != acts.NotRefused {
			a.Tell("%s: not possible: %s", v.Subject(plan.Job, s.Key, s.Before.Shown), a.Text(refusalOf(s.Refused)))
		} else {
			a.Tell("%s: %s", v.Subject(plan.Job, s.Key, s.Before.Shown), v.Reason(s.Before))
		}
		for _, text := range slices.Concat(v.Known(s), v.SinceSent(s.Before, s.Differences), decision(v, plan.Act, s)) {
			a.Tell("  %s", text)
		}
		if s.MayDouble && plan.Act == acts.ActRetry {
			a.Tell("  %s", a.Text("MAY DOUBLE: if it is the same document, do not send it: use `safrasync adopt` or `dismiss`. If they are two, check, and repeat with --checked; the API deletes nothing."))
		}
	})
}

// refusalOf returns the key of the text that explains a refusal.
func refusalOf(r acts.Refusal) i18n.Key {
	if key := "decision.refused." + string(r); i18n.CLI.Has(key) {
		return key
	}
	return "refusal." + string(r)
}

// decision returns what a person must know before deciding about a row that may be on the platform.
func decision(v words.Voice, act string, s acts.RowStep) []string {
	if act != acts.ActResend && act != acts.ActAdopt || s.Before.ID == 0 {
		return nil
	}
	var out []string
	say := func(p i18n.Key, args ...any) { out = append(out, v.Text(p, args...)) }
	for _, t := range s.Attempts {
		at := t.FinishedAt
		if at.IsZero() {
			at = t.StartedAt
		}
		say("attempt %d, %s: %s: %s", t.No, v.Moment(at), v.Text("outcome."+words.OutcomeName(t.Outcome)),
			v.Say(t.Reason))
		if phase := words.PhaseOf(t.Evidence); phase != "" {
			say("  how far it got: %s", v.Text("phase."+phase))
		}
		if t.RemoteID != "" {
			say("  id in the answer: %s", t.RemoteID)
		}
	}
	if s.Remaining > 0 {
		say("quarantine left: %s (the platform may still execute the request; changing the clock does not shorten it, and restarting the machine starts it again)", v.Span(s.Remaining))
	}
	switch {
	case s.GivesUp != nil:
		say("the id belonged to row %s %s, which has left the ERP, was cancelled or replaced there: its record now belongs to this row; the other row stays accepted, with the flag `moved`, and rows that refer to it keep the same id", s.Holder.Job, s.Holder.Key)
	case s.Holder != (trade.ParentKey{}):
		say("the id belongs to row %s %s", s.Holder.Job, s.Holder.Key)
	}
	if sent := acts.SentFields(s.Before); act == acts.ActResend && len(sent) > 0 {
		fields := trade.Map(sent, func(f acts.FieldReading) string {
			return trade.FieldLabel(f.Field, v.Lang) + " " + *f.Sent
		})
		say("look on the platform for a record with: %s", strings.Join(fields, "; "))
		if s.Refused == acts.NotRefused || s.Refused == acts.NotChecked {
			say("if it is there, do not send it: use `safrasync adopt`. Sent again it would exist twice, and the API cannot delete.")
		}
	}
	for _, p := range s.Problems {
		out = append(out, p.Sentence(v.Lang))
	}
	out = append(out, v.Awaited(s.WaitingFor)...)
	if r := s.Reading; r != nil {
		for _, f := range r.Fields {
			mine, there := v.OrAbsent(f.Sent), v.OrAbsent(f.There)
			switch {
			case f.Recoded:
				say("%s: %s; the code table has changed (now %s, on the platform %s)", trade.FieldLabel(f.Field, v.Lang), f.SentName, mine, there)
			case !f.Same:
				say("%s: in this row %s, on the platform %s", trade.FieldLabel(f.Field, v.Lang), strings.TrimSpace(f.SentName+" "+mine),
					strings.TrimSpace(f.ThereName+" "+there))
			}
		}
		say("compared with the platform: %d {field|fields} the same, %d different, %d that it does not show", r.Same, r.Differ, len(r.Unseen))
	}
	return out
}
