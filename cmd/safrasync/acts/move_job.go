package acts

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	engineacts "github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// NewJobCommand makes the commands about the jobs themselves.
func NewJobCommand(a *cli.App) *cobra.Command {
	group := a.Group("job", "help.job")
	var f cli.ActFlags
	// It shows what moving a job's entries to another job means, asks, and does it.
	cmd := a.Command("move OLD NEW --reason TEXT", "help.job_move", cli.Exactly(2),
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
				a.Tell("job.move_do", plan.Entries, from, to, strings.Join(states, ", "))
				if plan.Replaced > 0 {
					a.Tell("job.move_replaced", plan.Replaced, to)
				}
				if plan.Left > 0 {
					a.Tell("job.move_left", plan.Left, from, to)
				}
				if plan.Paused {
					a.Tell("job.move_paused", to)
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
				if err := a.PrintJSON(struct {
					Act     string  `json:"act"`
					Done    bool    `json:"done"`
					Refused *string `json:"refused"` // why not; null if it was done
					trade.JobMove
				}{engineacts.ActMove, plan.Done, trade.OrNull(string(plan.Refused)), plan.JobMove}); err != nil {
					return err
				}
			case plan.Refused == engineacts.KeysCollide:
				a.Tell("job.move_collide", plan.Collisions, plan.From, plan.To, strings.Join(plan.Samples, ", "), plan.From)
			case plan.Refused != engineacts.NotRefused:
				a.Tell("act.refused", engineacts.ActMove+" "+plan.From+" "+plan.To,
					a.Text(i18n.Key("refusal."+string(plan.Refused))))
			default:
				a.Show("job.move_done", plan.Entries, plan.From, plan.To, plan.To)
			}
			return cli.FailedIf(plan.Refused != engineacts.NotRefused)
		})
	f.Add(cmd)
	cmd.ValidArgsFunction = a.CompleteEveryJob
	group.AddCommand(cmd)
	return group
}
