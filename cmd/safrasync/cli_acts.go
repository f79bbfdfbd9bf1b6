package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/trade"
)

// actFlags are those of a person's act.
type actFlags struct {
	reason, as string
	yes        bool
}

func (f *actFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.reason, "reason", "", "why, `TEXT` for the audit")
	cmd.Flags().StringVar(&f.as, "as", "",
		"`NAME` of who orders it, recorded as given beside the account; default: who logged in")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "do it without asking")
}

// confirm shows that a plan stands and asks whether to do it. Without a terminal to ask at and
// without --yes the plan is all that happens: exit code 2.
func (a *App) confirm(yes bool) error {
	if yes {
		return nil
	}
	return a.ask(a.text("act.ask"), func(answer string) bool {
		return slices.Contains([]string{"s", "sim", "y", "yes"}, strings.ToLower(answer))
	})
}

// ask asks a person at a terminal; without one there is only the plan.
func (a *App) ask(question string, agrees func(answer string) bool) error {
	if !isTerminal(a.Stdin) || !isTerminal(a.Stderr) {
		a.tell("act.only_planned")
		return &exitError{exitUsage}
	}
	fmt.Fprint(a.Stderr, question)
	answered := make(chan bool, 1)
	go func() { // a read of a terminal cannot be given up: after a signal it ends with the process
		answer, err := bufio.NewReader(a.Stdin).ReadString('\n')
		answered <- err == nil && agrees(strings.TrimSpace(answer))
	}()
	select {
	case yes := <-answered:
		if yes {
			return nil
		}
		a.tell("act.not_done")
		return &exitError{exitUsage}
	case <-a.ended:
		fmt.Fprintln(a.Stderr)
		a.tell("act.not_done")
		return &exitError{exitFailed}
	}
}

// needReason refuses an act without a reason.
func (a *App) needReason(f actFlags) error {
	if strings.TrimSpace(f.reason) == "" {
		return a.usage("act.needs_reason")
	}
	return nil
}

// audit is the record of a person's act.
func (a *App) audit(f actFlags, act, target string, detail any) (trade.AuditRecord, error) {
	text, err := json.Marshal(detail)
	if err != nil {
		return trade.AuditRecord{}, fmt.Errorf("%s: %w", act, err)
	}
	who := a.person(f)
	return trade.AuditRecord{
		At: now(), Who: who.Name, From: who.From, Act: act, Target: target, Reason: f.reason,
		Detail: string(text),
	}, nil
}

// confirmed asks for the reason and the confirmation of an act whose plan was shown. The plan alone
// needs no reason.
func (a *App) confirmed(f actFlags) error {
	if f.yes {
		if err := a.needReason(f); err != nil {
			return err
		}
	}
	if err := a.confirm(f.yes); err != nil {
		return err
	}
	return a.needReason(f)
}
