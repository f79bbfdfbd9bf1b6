package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// newJobCommand makes the commands about the jobs themselves.
func newJobCommand(a *App) *cobra.Command {
	group := a.group("job", helpJob)
	var f actFlags
	cmd := a.command("move OLD NEW --reason TEXT", helpJobMove, exactly(2), func(cmd *cobra.Command, args []string) error {
		return a.moveJob(cmd.Context(), args[0], args[1], f)
	})
	f.add(cmd)
	group.AddCommand(cmd)
	return group
}

// moveJob shows what it means that the entries of a job go to another one, asks, and does it.
func (a *App) moveJob(ctx context.Context, from, to string, f actFlags) error {
	acts, err := a.openActs(ctx, toWrite)
	if err != nil {
		return err
	}
	plan, err := acts.MoveJob(ctx, from, to)
	if err != nil {
		return err
	}
	if plan.Refused == engine.NotRefused {
		a.tell(jobMoveDo, plan.Entries, from, to, a.statesText(plan.States))
		if plan.Replaced > 0 {
			a.tell(jobMoveReplaced, plan.Replaced, to)
		}
		if plan.Left > 0 {
			a.tell(jobMoveLeft, plan.Left, from, to)
		}
		if plan.Paused {
			a.tell(jobMovePaused, to)
		}
		if err := a.confirmed(f); err != nil {
			return err
		}
		if plan, err = acts.DoMoveJob(ctx, plan, a.person(f)); err != nil {
			return err
		}
	}
	return a.tellMoved(plan)
}

// statesText says how many rows stand where.
func (a *App) statesText(states map[trade.State]int) string {
	var out []string
	for _, s := range trade.States {
		if n := states[s]; n > 0 {
			out = append(out, fmt.Sprintf("%d %s", n, s.Label(a.lang())))
		}
	}
	return strings.Join(out, ", ")
}

func (a *App) tellMoved(plan engine.JobMovePlan) error {
	switch {
	case a.asJSON:
		if err := a.printJSON(struct {
			Act     string  `json:"act"`
			Done    bool    `json:"done"`
			Refused *string `json:"refused"` // why not; null when it was done
			trade.JobMove
		}{"job move", plan.Done, orNull(string(plan.Refused)), plan.JobMove}); err != nil {
			return err
		}
	case plan.Refused == engine.KeysCollide:
		a.tell(jobMoveCollide, plan.Collisions, plan.From, plan.To, strings.Join(plan.Samples, ", "), plan.From)
	case plan.Refused != engine.NotRefused:
		a.tell(actRefused, "job move", plan.From+" "+plan.To, a.text(refusalWords[plan.Refused]))
	default:
		a.show(jobMoveDone, plan.Entries, plan.From, plan.To, plan.To)
	}
	if plan.Refused != engine.NotRefused {
		return &exitError{exitFailed}
	}
	return nil
}
