package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/internal/i18n"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// newJobCommand makes the commands about the jobs themselves.
func newJobCommand(a *App) *cobra.Command {
	group := a.group("job", "help.job")
	var f actFlags
	cmd := a.command("move OLD NEW --reason TEXT", "help.job_move", exactly(2),
		func(cmd *cobra.Command, args []string) error {
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
		a.tell("job.move_do", plan.Entries, from, to, a.statesText(plan.States))
		if plan.Replaced > 0 {
			a.tell("job.move_replaced", plan.Replaced, to)
		}
		if plan.Left > 0 {
			a.tell("job.move_left", plan.Left, from, to)
		}
		if plan.Paused {
			a.tell("job.move_paused", to)
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
		a.tell("job.move_collide", plan.Collisions, plan.From, plan.To, strings.Join(plan.Samples, ", "), plan.From)
	case plan.Refused != engine.NotRefused:
		a.tell("act.refused", "job move "+plan.From+" "+plan.To, a.text(i18n.Key("refusal."+string(plan.Refused))))
	default:
		a.show("job.move_done", plan.Entries, plan.From, plan.To, plan.To)
	}
	if plan.Refused != engine.NotRefused {
		return &exitError{exitFailed}
	}
	return nil
}
