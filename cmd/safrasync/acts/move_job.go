package acts

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	engineacts "github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// NewJobCommand makes the commands about the jobs themselves.
func NewJobCommand(a *cli.App) *cobra.Command {
	group := a.Group("job", "jobs that were renamed")
	var f cli.ActFlags
	// It shows what moving a job's entries to another job means, asks, and does it.
	cmd := a.Command("move OLD NEW --reason TEXT", "move the rows of job OLD, which is no longer configured, to NEW: the same job under another name", cli.Exactly(2),
		func(ctx context.Context, args []string) error {
			from, to := args[0], args[1]
			o, err := a.Office(ctx, cli.ToWrite, cli.NoERP)
			if err != nil {
				return err
			}
			plan, err := o.PlanMove(ctx, from, to)
			if err != nil {
				return err
			}
			if plan.Refused == engineacts.NotRefused {
				var states []string
				for _, s := range trade.States {
					if n := plan.States[s]; n > 0 {
						states = append(states, fmt.Sprintf("%d %s", n, s.Label(a.Lang())))
					}
				}
				a.Tell("%d {row moves|rows move} from job %s to job %s: %s", plan.Entries, from, to, strings.Join(states, ", "))
				if plan.Paused {
					a.Tell("  job %s is paused afterwards", to)
				}
				if err := a.Confirmed(f); err != nil {
					return err
				}
				plan, err = o.Move(ctx, plan, a.Person(f))
				if err != nil {
					return err
				}
			}
			switch {
			case a.AsJSON:
				if err := a.PrintJSON(plan); err != nil {
					return err
				}
			case plan.Refused != engineacts.NotRefused:
				a.Tell("%s: not possible: %s", engineacts.ActMove+" "+plan.From+" "+plan.To,
					a.Text("refusal."+string(plan.Refused)))
			default:
				a.Show("%d {row|rows} moved from job %s to job %s; the next run compares everything (`safrasync sync %s`).", plan.Entries, plan.From, plan.To, plan.To)
			}
			return cli.FailedIf(plan.Refused != engineacts.NotRefused)
		})
	f.Add(cmd)
	cmd.ValidArgsFunction = a.CompleteEveryJob
	group.AddCommand(cmd)
	return group
}
