package maintenance

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// NewStateCommand makes the command state.
func NewStateCommand(a *cli.App) *cobra.Command {
	group := a.Group("state", "the ledger as a whole")
	var f cli.ActFlags
	var to, journal string
	// It moves the ledger to another database and marks the old one, so that nothing is ever sent from both.
	cmd := a.Command("copy --to DSN --reason TEXT", "move the ledger to another database (SQLite or PostgreSQL), verified", cli.Exactly(0),
		func(ctx context.Context, _ []string) error {
			conf, from, err := a.LoadToWrite()
			if err != nil {
				return err
			}
			if to == "" {
				return a.Usage("the arguments are: %s", "safrasync state copy --to DSN --reason TEXT")
			}
			target := state.OpenOptions{Driver: driverOf(to), Version: a.Version, Journal: journal}
			target.DSN, err = config.ResolveSecret(a.Env, conf.File(), to)
			if err != nil {
				return err
			}
			target.Driver = driverOf(target.DSN)
			if target.Driver == state.SQLite {
				target.DSN, err = filepath.Abs(target.DSN)
				if err != nil {
					return err
				}
			}
			if target.Journal == "" {
				target.Journal = conf.State.Journals()
			}
			return onLedger(a, f, "state copy", func(do bool, record trade.AuditRecord) (state.MovePlan, error) {
				return state.Move(ctx, from, target, do, record)
			}, func(plan state.MovePlan) bool {
				a.Tell("The ledger %s is moved to %s: %d {row that was|rows that were} sent, %d that will be in doubt. The old ledger is marked and never sends again; keep it for reference.", plan.From, plan.To, plan.Sent, plan.Doubts)
				return true
			}, func(plan state.MovePlan) {
				if plan.Done {
					a.Show("It was already moved to %s before; nothing more was copied.", plan.To)
				}
				for _, t := range plan.Tables {
					a.Show("  %-14s %9d rows, the same in both databases (%s)", t.Name, t.Rows, t.Hash[:12])
				}
				a.Show("Done. The ledger is in %s. Now write state.driver: %s and the new state.dsn in the configuration, on every machine, and run `safrasync doctor`; %s refuses to send anything.", plan.To, target.Driver, plan.From)
			})
		})
	f.Add(cmd)
	cmd.Flags().StringVar(&to, "to", "",
		"the new `DSN`, of PostgreSQL or the path of a new SQLite file; ${env:NAME} and ${file:PATH} as in the configuration")
	cmd.Flags().StringVar(&journal, "journal", "",
		"`FOLDER` of the new ledger's journal, as state.journal will have it (default: as it has it now)")

	fresh := a.Command("new", "create the ledger that the configuration names; only at the first set-up", cli.Exactly(0),
		func(ctx context.Context, _ []string) error {
			_, options, err := a.LoadToWrite()
			if err != nil {
				return err
			}
			store, err := state.New(ctx, options)
			if err != nil {
				return err
			}
			a.Closers = append(a.Closers, store.Close)
			return a.Answer(struct {
				Ledger  string `json:"ledger"`
				Where   string `json:"where"`
				Journal string `json:"journal"`
			}{store.LedgerID(), store.Where(), store.JournalFolder()},
				"Ledger created: %s (%s).\nIts journal: %s. From now on back up both; an empty folder in their place is an error, not a fresh start.", store.Where(), store.LedgerID(), store.JournalFolder())
		})

	var g cli.ActFlags
	var order state.RebindOrder
	rebind := a.Command("rebind --reason TEXT", "confirm that the platform's address, or the ledger's PostgreSQL server, has changed", cli.Exactly(0),
		func(ctx context.Context, _ []string) error {
			config, options, err := a.LoadToWrite()
			if err != nil {
				return err
			}
			order.Platform = config.API.Platform()
			return onLedger(a, g, "state rebind", func(do bool, record trade.AuditRecord) (state.RebindPlan, error) {
				order.Apply = do
				return state.Rebind(ctx, options, order, record)
			}, func(plan state.RebindPlan) bool { return tellRebind(a, plan) },
				func(state.RebindPlan) { a.Show("Done. The next run sends.") })
		})
	g.Add(rebind)
	rebind.Flags().StringArrayVar(&order.Gone, "gone", nil,
		"a host that is gone for ever, whose journal nobody can compare (repeatable)")
	rebind.Flags().StringVar(&order.OldServerOff, "old-server-off", "",
		"`TEXT`: who switched the old database server off, and how; required with --gone")

	group.AddCommand(fresh, cmd, rebind)
	return group
}

// driverOf distinguishes a PostgreSQL data source name from the path of an SQLite file.
func driverOf(dsn string) string {
	if strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://") || strings.Contains(dsn, "=") {
		return state.Postgres
	}
	return state.SQLite
}
