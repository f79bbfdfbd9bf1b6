package main

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

func newStateCommand(a *App) *cobra.Command {
	group := a.group("state", "help.state")
	var f actFlags
	var to, journal string
	cmd := a.command("copy --to DSN --reason TEXT", "help.state_copy", exactly(0),
		func(cmd *cobra.Command, _ []string) error {
			return a.copyState(cmd.Context(), to, journal, f)
		})
	f.add(cmd)
	cmd.Flags().StringVar(&to, "to", "",
		"the new `DSN`, of PostgreSQL or the path of a new SQLite file; ${env:NAME} and ${file:PATH} as in the configuration")
	cmd.Flags().StringVar(&journal, "journal", "",
		"`FOLDER` of the new ledger's journal, as state.journal will have it (default: as it has it now)")
	group.AddCommand(newStateNewCommand(a), cmd, newStateRebindCommand(a))
	return group
}

// copyState moves the ledger to another database, and marks the old one: nothing is ever sent from
// both.
func (a *App) copyState(ctx context.Context, to, journal string, f actFlags) error {
	config, err := a.loadConfig()
	if err != nil {
		return err
	}
	if to == "" {
		return a.usage("says.arguments", "safrasync state copy --to DSN --reason TEXT")
	}
	target := state.Options{Driver: driverOf(to), Version: a.version, Journal: journal}
	if target.DSN, err = resolveSecret(a.Env, config.File(), to); err != nil {
		return err
	}
	if target.Driver = driverOf(target.DSN); target.Driver == state.SQLite {
		if target.DSN, err = filepath.Abs(target.DSN); err != nil {
			return err
		}
	}
	if target.Journal == "" {
		target.Journal = config.State.journals()
	}
	from := a.ledgerOptions(config, toWrite)
	plan, err := state.Move(ctx, from, target, false, trade.AuditRecord{})
	if err != nil {
		return err
	}
	a.tell("state.copy_plan", plan.From, plan.To, plan.Sent, plan.Doubts)
	if err := a.confirmed(f); err != nil {
		return err
	}
	record, err := a.audit(f, "state copy", "ledger", nil)
	if err != nil {
		return err
	}
	if plan, err = state.Move(ctx, from, target, true, record); err != nil {
		return err
	}
	if a.asJSON {
		return a.printJSON(plan)
	}
	if plan.Done {
		a.show("state.copy_before", plan.To)
	}
	for _, t := range plan.Tables {
		a.show("state.copy_table", t.Name, t.Rows, t.Hash[:12])
	}
	a.show("state.copy_done", plan.To, target.Driver, plan.From)
	return nil
}

// driverOf tells a data source name of PostgreSQL from the path of a file.
func driverOf(dsn string) string {
	if strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://") || strings.Contains(dsn, "=") {
		return state.Postgres
	}
	return state.SQLite
}
