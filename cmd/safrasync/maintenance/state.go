package maintenance

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/i18n"
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
			}, func(plan state.RebindPlan) bool { return printRebind(a, plan) },
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

// printRebind prints what would be confirmed. It reports whether there is anything to confirm.
func printRebind(a *cli.App, plan state.RebindPlan) bool {
	server := plan.Server != nil || plan.Back.Error() != "" || plan.Asked
	gone := slices.ContainsFunc(plan.Hosts, func(h state.RebindHost) bool { return h.Gone })
	if plan.Platform == nil && !server && !gone {
		a.Tell("There is nothing to confirm: address and server are the ones that the ledger knows.")
		return false
	}
	if p := plan.Platform; p != nil {
		was := p.Was
		if was == "" {
			was = a.Text("an unknown place")
		}
		a.Tell("The ledger has sent to %s; api.base_url is %s. Confirm only if it is the same platform at another address: %d accepted {row|rows} and %d in doubt count as sent to it and are not sent again. For another platform (test, then production): `safrasync state new`.", was, p.Is, plan.Accepted, plan.Doubts)
	}
	if p := plan.Server; p != nil {
		a.Tell("The ledger was on %s; now it is on %s, with %d accepted {row|rows} and %d in doubt. A replica that was promoted while it lagged behind, or a restored copy, lacks the latest sendings; only the journals know them.", p.Was, p.Is, plan.Accepted, plan.Doubts)
	}
	if plan.Back.Error() != "" {
		a.Tell("%s.", plan.Back)
	} else if plan.Server == nil && plan.Asked {
		a.Tell("A host found that this ledger may lack something, and all hosts were asked to report. Nothing is sent until it is confirmed.")
	}
	if server {
		a.Tell("The old server must be off, or cut off from every host (fenced): a host that still reaches it goes on sending from it, and every row goes twice. Make sure before you confirm.")
	}
	if plan.Journal == "" {
		a.Tell("Journal of this host: the ledger has everything in it.")
	} else {
		a.Tell("Journal of this host: %s\n  → settle this first; nothing is confirmed until then.", plan.Journal)
	}
	for _, h := range plan.Hosts {
		key := i18n.Key("Journal of the host %s (%s; %d {record|records} until %s): only that host can compare it, and it has not reported. Start the service there, or run `safrasync check` and, if something is missing, `safrasync rebuild`. Only if the host is gone for ever: --gone with its name, and --old-server-off.")
		switch {
		case h.Gone:
			key = "Journal of the host %s (%s; %d {record|records} until %s): you say that the host is gone for ever. What it sent last is known to nobody: look for it on the platform first."
		case h.Reported && plan.Asked:
			key = "Journal of the host %s (%s; %d {record|records} until %s): the host has reported that the ledger has everything in it."
		}
		a.Tell(key, h.Host, h.Path, h.Records, a.Voice().Moment(h.Last))
		if h.Server != nil {
			a.Tell("The server from which it worked last: %s.", h.Server)
		}
	}
	return true
}
