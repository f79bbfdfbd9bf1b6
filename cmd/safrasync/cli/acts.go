package cli

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// ActFlags are the flags of a person's act.
type ActFlags struct {
	Reason, As string
	Yes        bool
}

// Add adds the flags to a command.
func (f *ActFlags) Add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Reason, "reason", "", "why, `TEXT` for the audit")
	cmd.Flags().StringVar(&f.As, "as", "",
		"`NAME` of who orders it, recorded as given beside the account; default: who logged in")
	cmd.Flags().BoolVar(&f.Yes, "yes", false, "do it without asking")
}

// Confirm asks whether to do the plan that was shown. Without a terminal to ask on, and without
// --yes, it returns an error with exit code 2: the plan was only shown.
func (a *App) Confirm(yes bool) error {
	if yes {
		return nil
	}
	return a.Ask(a.Text("Continue? [y/N] "), func(answer string) bool {
		return slices.Contains([]string{"s", "sim", "y", "yes"}, strings.ToLower(answer))
	})
}

// Ask asks a person on the terminal. Without a terminal it returns an error with exit code 2.
func (a *App) Ask(question string, agrees func(answer string) bool) error {
	if !IsTerminal(a.Stdin) || !IsTerminal(a.Stderr) {
		a.Tell("Nothing was changed: there is no terminal to ask for confirmation, so confirm with --yes.")
		return &ExitError{ExitUsage}
	}
	fmt.Fprint(a.Stderr, question)
	answered := make(chan bool, 1)
	go func() { // a read of a terminal cannot be cancelled: after a signal it ends with the process
		answer, err := bufio.NewReader(a.Stdin).ReadString('\n')
		answered <- err == nil && agrees(strings.TrimSpace(answer))
	}()
	select {
	case yes := <-answered:
		if yes {
			return nil
		}
		a.Tell("Nothing was changed.")
		return &ExitError{ExitUsage}
	case <-a.Ended:
		fmt.Fprintln(a.Stderr)
		a.Tell("Nothing was changed.")
		return ErrFailed
	}
}

// NeedReason refuses an act without a reason.
func (a *App) NeedReason(f ActFlags) error {
	if strings.TrimSpace(f.Reason) == "" {
		return a.Usage("--reason TEXT is missing: it is recorded in the audit")
	}
	return nil
}

// Audit returns the audit record of a person's act.
func (a *App) Audit(f ActFlags, act, target string, detail any) (trade.AuditRecord, error) {
	who := a.Person(f)
	who.Reason = f.Reason // not trimmed
	return who.Record(office.Now(), act, target, detail)
}

// Confirmed asks for confirmation of an act whose plan was shown, and requires a reason. A plan
// that is only shown needs no reason.
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

// TellAsked prints that an act waits for the consent of other people, and who may give it.
func TellAsked(a *App, ap trade.Approval) error {
	who := a.Text("approval.who." + string(acts.RoleOfApproval(ap)))
	return a.Answer(struct {
		Act      string `json:"act"`
		Target   string `json:"target"`
		Done     bool   `json:"done"`
		Approval int64  `json:"approval"` // id of the approval to give
		Needs    int    `json:"needs"`    // people who must agree, including who ordered it
	}{ap.Act, ap.Target, false, ap.ID, ap.Needs},
		"Nothing has been done yet: this needs %d {person|people}. Request %d is kept until %s.\nWho may approve: %s who has not ordered or approved it; in the console, under Approvals, or with `safrasync approvals approve %d --reason TEXT`.", ap.Needs, ap.ID, a.Voice().Moment(ap.Until), who, ap.ID)
}
