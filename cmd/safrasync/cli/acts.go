package cli

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// ActFlags are those of a person's act.
type ActFlags struct {
	Reason, As string
	Yes        bool
}

// Add gives a command the flags.
func (f *ActFlags) Add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Reason, "reason", "", "why, `TEXT` for the audit")
	cmd.Flags().StringVar(&f.As, "as", "",
		"`NAME` of who orders it, recorded as given beside the account; default: who logged in")
	cmd.Flags().BoolVar(&f.Yes, "yes", false, "do it without asking")
}

// Confirm shows that a plan stands and asks whether to do it. Without a terminal to ask at and
// without --yes the plan is all that happens: exit code 2.
func (a *App) Confirm(yes bool) error {
	if yes {
		return nil
	}
	return a.Ask(a.Text("act.ask"), func(answer string) bool {
		return slices.Contains([]string{"s", "sim", "y", "yes"}, strings.ToLower(answer))
	})
}

// Ask asks a person at a terminal; without one there is only the plan.
func (a *App) Ask(question string, agrees func(answer string) bool) error {
	if !IsTerminal(a.Stdin) || !IsTerminal(a.Stderr) {
		a.Tell("act.only_planned")
		return &ExitError{ExitUsage}
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
		a.Tell("act.not_done")
		return &ExitError{ExitUsage}
	case <-a.Ended:
		fmt.Fprintln(a.Stderr)
		a.Tell("act.not_done")
		return &ExitError{ExitFailed}
	}
}

// NeedReason refuses an act without a reason.
func (a *App) NeedReason(f ActFlags) error {
	if strings.TrimSpace(f.Reason) == "" {
		return a.Usage("act.needs_reason")
	}
	return nil
}

// Audit is the record of a person's act.
func (a *App) Audit(f ActFlags, act, target string, detail any) (trade.AuditRecord, error) {
	who := a.Person(f)
	who.Reason = f.Reason // as it was given
	return who.Record(Now(), act, target, detail)
}

// Confirmed asks for the reason and the confirmation of an act whose plan was shown. The plan alone
// needs no reason.
func (a *App) Confirmed(f ActFlags) error {
	if f.Yes {
		if err := a.NeedReason(f); err != nil {
			return err
		}
	}
	if err := a.Confirm(f.Yes); err != nil {
		return err
	}
	return a.NeedReason(f)
}

// TellAsked says that an act waits for the consent of others, and who may give it.
func TellAsked(a *App, ap trade.Approval) error {
	if a.AsJSON {
		return a.PrintJSON(struct {
			Act      string `json:"act"`
			Target   string `json:"target"`
			Done     bool   `json:"done"`
			Approval int64  `json:"approval"` // that others may give
			Needs    int    `json:"needs"`    // people in all
		}{ap.Act, ap.Target, false, ap.ID, ap.Needs})
	}
	who := a.Text(i18n.Key("approval.who." + string(acts.ApproverOf(ap.Act))))
	a.Show("approval.asked", ap.Needs, ap.ID, a.Voice().Moment(ap.Until), who, ap.ID)
	return nil
}
