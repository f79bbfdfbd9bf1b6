package main

import (
	"errors"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/internal/torture"
)

// selftestFlags are those of `safrasync selftest`.
type selftestFlags struct {
	kills       int
	seed        uint64
	maxInFlight int
	erp, ledger string
	dir         string
}

func newSelftestCommand(a *App) *cobra.Command {
	var f selftestFlags
	cmd := a.command("selftest [--kills N] [--seed N] [--erp DSN] [--ledger DSN] [--dir DIR]", "help.selftest",
		exactly(0), func(cmd *cobra.Command, _ []string) error {
			return a.selftest(cmd, f)
		})
	cmd.Long = a.text("help.selftest_long")
	flags := cmd.Flags()
	flags.IntVar(&f.kills, "kills", 50, "how often the program is killed, `N`")
	flags.Uint64Var(&f.seed, "seed", 0, "`N` decides faults and kills; default: drawn, and printed")
	flags.IntVar(&f.maxInFlight, "max-in-flight", 8, "requests on the wire at once, `N`")
	flags.StringVar(&f.erp, "erp", "",
		"`DSN` of an empty PostgreSQL database for the ERP of the trial; default: SQLite")
	flags.StringVar(&f.ledger, "ledger", "",
		"`DSN` of an empty PostgreSQL database for the ledger of the trial; default: SQLite")
	flags.StringVar(&f.dir, "dir", "",
		"empty `FOLDER` for the trial, which is kept; default: one that is removed at the end")
	return cmd
}

// selftest lets the program that runs try to lose a row or to send one twice, and judges what came
// of it. Nothing of the configuration is used.
func (a *App) selftest(cmd *cobra.Command, f selftestFlags) (err error) {
	if f.kills < 1 || f.maxInFlight < 1 {
		return &usageError{"--kills, --max-in-flight: 1 …"}
	}
	binary, err := os.Executable()
	if err != nil {
		return err
	}
	if f.dir == "" {
		if f.dir, err = os.MkdirTemp("", "safrasync-selftest-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(f.dir)) }()
	} else if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	if f.seed == 0 {
		f.seed = rand.Uint64N(1<<53-1) + 1 // readable as a JSON number everywhere
	}
	opts := torture.Options{
		Binary: binary, Dir: f.dir, Kills: f.kills, Seed: f.seed, MaxInFlight: f.maxInFlight,
		Progress: func(v torture.Verdict) { a.tell("selftest.progress", v.Kills, f.kills) },
	}
	if f.erp != "" {
		opts.ERP = torture.Database{Driver: "postgres", DSN: f.erp}
	}
	if f.ledger != "" {
		opts.Ledger = torture.Database{Driver: "postgres", DSN: f.ledger}
	}
	a.tell("selftest.begins", f.kills, f.seed)
	v, err := torture.Run(cmd.Context(), opts)
	if err != nil {
		return err
	}
	if err := a.printVerdict(v); err != nil {
		return err
	}
	if !v.Clean() {
		return errors.New(a.text("selftest.failed", f.seed))
	}
	return nil
}

func (a *App) printVerdict(v torture.Verdict) error {
	if a.asJSON {
		return a.printJSON(v)
	}
	a.show("selftest.verdict", v.Kills, v.Rows, v.Records, v.Lost, v.Doubled, v.FalseAccepted, v.Orphaned, v.InDoubt,
		v.MostDoubts, v.MaxInFlight, v.Undecided)
	if len(v.Examples) > 0 {
		a.show("selftest.examples", strings.Join(v.Examples, "\n  "))
	}
	return nil
}
