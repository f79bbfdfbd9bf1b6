package acts

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/office"
	engineacts "github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// Elsewhere holds, by act, the constructors of the acts that need approval but are done by other
// commands.
type Elsewhere map[string]func(*cli.App) engineacts.OtherAct

// NewApprovalsCommand makes the command approvals.
func NewApprovalsCommand(a *cli.App) *cobra.Command {
	return a.Command("approvals", "help.approvals", cli.Exactly(0), func(cmd *cobra.Command, _ []string) error {
		return listApprovals(cmd.Context(), a)
	})
}

// NewApproveCommand makes the command approve.
func NewApproveCommand(a *cli.App, elsewhere Elsewhere) *cobra.Command {
	return answerCommand(a, "approve", "help.approve",
		func(ctx context.Context, id int64, f cli.ActFlags) error { return approve(ctx, a, id, f, elsewhere) })
}

// NewDeclineCommand makes the command decline.
func NewDeclineCommand(a *cli.App) *cobra.Command {
	return answerCommand(a, "decline", "help.decline", func(ctx context.Context, id int64, f cli.ActFlags) error {
		acts, err := a.OpenActs(ctx, cli.ToWrite)
		if err != nil {
			return err
		}
		d, err := acts.Decline(ctx, id, a.Person(f))
		if err != nil {
			return err
		}
		return tellDecided(a, id, d, "approval.declined")
	})
}

func answerCommand(a *cli.App, name string, help i18n.Key,
	answer func(ctx context.Context, id int64, f cli.ActFlags) error,
) *cobra.Command {
	var f cli.ActFlags
	cmd := a.Command(name+" ID --reason TEXT", help, cli.Exactly(1), func(cmd *cobra.Command, args []string) error {
		id, err := strconv.ParseInt(args[0], 10, 64)
		if err != nil {
			return a.Usage("approval.no_id", args[0])
		}
		if err := a.NeedReason(f); err != nil {
			return err
		}
		return answer(cmd.Context(), id, f)
	})
	f.Add(cmd)
	return cmd
}

// approve shows the plan of an act that somebody ordered, asks, and records this person's consent.
func approve(ctx context.Context, a *cli.App, id int64, f cli.ActFlags, elsewhere Elsewhere) error {
	acts, err := a.OpenActs(ctx, cli.ToWrite)
	if err != nil {
		return err
	}
	acts.Others = map[string]engineacts.OtherAct{}
	for act, of := range elsewhere {
		acts.Others[act] = of(a)
	}
	ap, err := acts.Approvals.Approval(ctx, id)
	if err != nil {
		if errors.Is(err, trade.ErrNotFound) {
			return tellDecided(a, id, engineacts.Decided{Refused: engineacts.NotAsked}, "")
		}
		return err
	}
	planned, err := engineacts.PlannedOf(ap)
	if err != nil {
		return err
	}
	if err := readyFor(ctx, a, acts, planned.Order.Act); err != nil {
		return err
	}
	review, err := acts.Review(ctx, ap)
	if err != nil {
		return err
	}
	tellApproval(a, ap)
	if tell := acts.Others[planned.Order.Act].Tell; tell != nil {
		if err := tell(ctx, planned); err != nil {
			return err
		}
	}
	if review.Rows != nil {
		tellSteps(a, *review.Rows)
	}
	if review.Job != nil && review.Job.Release != nil {
		tellRelease(a, *review.Job)
	}
	if review.Outdated {
		return tellDecided(a, id, engineacts.Decided{Approval: ap, Refused: engineacts.Moved}, "")
	}
	if err := a.Confirm(f.Yes); err != nil {
		return err
	}
	d, err := acts.Approve(ctx, id, a.Person(f))
	if err != nil {
		return err
	}
	done := i18n.Key("approval.done")
	if d.Waits > 0 {
		done = "approval.agreed"
	}
	return tellDecided(a, id, d, done)
}

// readyFor sets the ERP reader and the platform client in acts, as far as planning this act again
// needs them.
func readyFor(ctx context.Context, a *cli.App, acts *engineacts.Acts, act string) (err error) {
	if act != "adopt" && act != "resend" {
		return nil
	}
	if acts.Rows, err = cli.OpenReader(ctx, a, false); err != nil || act == "resend" {
		return err
	}
	acts.Platform, err = a.OpenAPI()
	return err
}

// approvalJSON is one line of `approvals --json`, and what approve and decline print with --json.
type approvalJSON struct {
	Approval int64           `json:"approval"`
	Act      string          `json:"act"`
	Target   string          `json:"target"`
	People   []trade.Consent `json:"people"` // the person who ordered the act comes first
	Needs    int             `json:"needs"`
	Until    string          `json:"until"`
	Done     bool            `json:"done"`
	Refused  *string         `json:"refused"`
}

func approvalOf(ap trade.Approval) approvalJSON {
	return approvalJSON{
		Approval: ap.ID, Act: ap.Act, Target: ap.Target, People: ap.People, Needs: ap.Needs,
		Until: ap.Until.Format("2006-01-02T15:04:05Z"),
	}
}

func listApprovals(ctx context.Context, a *cli.App) error {
	store, err := a.OpenLedger(ctx, cli.ToRead)
	if err != nil {
		return err
	}
	list, err := store.Approvals(ctx, office.Now())
	if err != nil {
		return err
	}
	if a.AsJSON {
		return cli.PrintEach(a, list, approvalOf)
	}
	if len(list) == 0 {
		a.Show("approval.none")
	}
	for _, ap := range list {
		a.Line(approvalText(a, ap))
	}
	return nil
}

func tellApproval(a *cli.App, ap trade.Approval) { a.Tell("act.line", approvalText(a, ap)) }

// approvalText returns one line: the act, who ordered it and why, how many people have agreed, and
// when the approval expires.
func approvalText(a *cli.App, ap trade.Approval) string {
	first := ap.People[0]
	names := make([]string, len(ap.People))
	for i, c := range ap.People {
		names[i] = c.Name
	}
	return a.Text("approval.line", ap.ID, ap.Act, ap.Target, strings.Join(names, ", "), a.Voice().Moment(first.At),
		first.Reason, len(ap.People), ap.Needs, a.Voice().Moment(ap.Until))
}

// tellDecided prints the result of approve or decline. It returns an error if the answer was
// refused.
func tellDecided(a *cli.App, id int64, d engineacts.Decided, done i18n.Key) error {
	if a.AsJSON {
		out := approvalOf(d.Approval)
		out.Approval, out.Done, out.Refused = cmp.Or(out.Approval, id), d.Done, cli.OrNull(string(d.Refused))
		if err := a.PrintJSON(out); err != nil {
			return err
		}
	}
	switch {
	case d.Refused != engineacts.NotRefused:
		a.Tell("act.refused", a.Text("approval.name", id), a.Text(i18n.Key("approval.refused."+string(d.Refused))))
		return &cli.ExitError{Code: cli.ExitFailed}
	case !a.AsJSON:
		a.Show(done, id)
	}
	return nil
}
