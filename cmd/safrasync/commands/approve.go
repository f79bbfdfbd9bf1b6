package commands

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// NewApprovalsCommand makes the command approvals.
func NewApprovalsCommand(a *cli.App) *cobra.Command {
	var f cli.ActFlags
	// the acts that a command does in its own way
	others := map[string]acts.OtherAct{
		acts.ActClose: approvableClosing(a), acts.ActResync: approvableResync(a),
	}
	const use = "approvals [approve ID --reason TEXT | decline ID --reason TEXT]"
	cmd := a.Command(use, "list what is waiting for another person's approval; approve it (it is then carried out) or decline it, also your own", cli.AnyArgs, func(ctx context.Context, args []string) error {
		switch {
		case len(args) == 0:
			o, err := a.Office(ctx, cli.ToRead, cli.NoERP)
			if err != nil {
				return err
			}
			list, err := o.Approvals(ctx)
			if err != nil {
				return err
			}
			if a.AsJSON {
				return cli.PrintEach(a, trade.Map(list, func(ap trade.Approval) office.Approval {
					return office.ApprovalOf(acts.Decided{Approval: ap})
				}))
			}
			if len(list) == 0 {
				a.Show("Nothing is waiting for approval.")
			}
			for _, ap := range list {
				a.Line(approvalText(a, ap))
			}
			return nil
		case !slices.Contains(answers, args[0]):
			return a.Usage("%s is no answer; the answers are: %s", args[0], cli.Listed(answers))
		case len(args) != 2:
			return a.Usage("the arguments are: %s", "safrasync "+use)
		}
		id, err := strconv.ParseInt(args[1], 10, 64)
		if err != nil {
			return a.Usage("%s is not the number of a request; `safrasync approvals` lists them", args[1])
		}
		if err := a.NeedReason(f); err != nil {
			return err
		}
		o, err := a.Office(ctx, cli.ToWrite, cli.NoERP)
		if err != nil {
			return err
		}
		if args[0] == "decline" {
			d, err := o.Decline(ctx, id, a.Person(f))
			if err != nil {
				return err
			}
			return printDecided(a, id, d, "Request %d: declined; nothing will be done.")
		}
		// the plan of the act that somebody ordered is shown, and this person asked for the consent
		ap, err := o.Approval(ctx, id)
		if errors.Is(err, trade.ErrNotFound) || err == nil && ap.Outcome != "" {
			return printDecided(a, id, acts.Decided{Refused: acts.NotAsked}, "")
		}
		if err != nil {
			return err
		}
		planned, err := acts.PlannedOf(ap)
		if err != nil {
			return err
		}
		if kind, _ := acts.ActNamed(planned.Order.Act); kind.ERP {
			o, err = a.Office(ctx, cli.ToWrite, cli.ERPIfThere)
			if err != nil {
				return err
			}
		}
		for act, approvable := range others {
			o.DoneBy(act, approvable)
		}
		review, err := o.Review(ctx, ap)
		if err != nil {
			return err
		}
		a.Tell("  %s", approvalText(a, ap))
		if tell := others[planned.Order.Act].Tell; tell != nil {
			if err := tell(ctx, planned); err != nil {
				return err
			}
		}
		if review.Rows != nil {
			printSteps(a, *review.Rows)
		}
		if review.Job != nil && review.Job.Release != nil {
			printRelease(a, *review.Job)
		}
		if review.Outdated {
			return printDecided(a, id, acts.Decided{Approval: ap, Refused: acts.Moved}, "")
		}
		if err := a.Confirm(f.Yes); err != nil {
			return err
		}
		d, err := o.Approve(ctx, id, a.Person(f))
		if err != nil {
			return err
		}
		done := i18n.Key("Request %d: fully approved and carried out.")
		if d.Waits > 0 {
			done = "Request %d: your approval is recorded; another person must approve it too."
		}
		return printDecided(a, id, d, done)
	})
	f.Add(cmd)
	cmd.ValidArgs = answers
	return cmd
}

// answers are what a person can say to what waits.
var answers = []string{"approve", "decline"}

// approvalText returns one line: the act, who ordered it and why, how many people have agreed, and
// when the approval expires.
func approvalText(a *cli.App, ap trade.Approval) string {
	first := ap.People[0]
	names := trade.Map(ap.People, func(c trade.Consent) string { return c.Name })
	return a.Text("request %d: %s %s, by %s, %s: %s (%d of %d {person|people}; until %s)", ap.ID, ap.Act, ap.Target, strings.Join(names, ", "), a.Voice().Moment(first.At),
		first.Reason, len(ap.People), ap.Needs, a.Voice().Moment(ap.Until))
}

// printDecided prints the result of an answer. It returns an error if the answer was
// refused.
func printDecided(a *cli.App, id int64, d acts.Decided, done i18n.Key) error {
	if a.AsJSON {
		d.Approval.ID = id // also if there is no such request
		if err := a.PrintJSON(office.ApprovalOf(d)); err != nil {
			return err
		}
	}
	switch {
	case d.Refused != acts.NotRefused:
		a.Tell("%s: not possible: %s", a.Text("request %d", id),
			a.Text("approval.refused."+string(d.Refused)))
		return cli.ErrFailed
	case !a.AsJSON:
		a.Show(done, id)
	}
	return nil
}
