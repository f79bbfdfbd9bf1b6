package maintenance

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/torture"
)

// selftestFlags are the flags of `safrasync selftest`.
type selftestFlags struct {
	kills       int
	seed        uint64
	maxInFlight int
	erp, ledger string
	dir         string
}

// NewSelftestCommand makes the command selftest.
func NewSelftestCommand(a *cli.App) *cobra.Command {
	var f selftestFlags
	cmd := a.Command("selftest [--erp] [--kills N] [--seed N] [--erp=DSN] [--ledger DSN] [--dir DIR]", "help.selftest",
		cli.Arity{Least: 0, Most: 1}, func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 1 && f.erp == configured: // --erp DSN
				f.erp = args[0]
			case len(args) == 1:
				return a.Usage("says.arguments", cmd.UseLine())
			case f.erp == configured:
				return battery(cmd.Context(), a)
			}
			return selftest(a, cmd, f)
		})
	cmd.Long = a.Text("help.selftest_long")
	flags := cmd.Flags()
	flags.IntVar(&f.kills, "kills", 50, "how often the program is killed, `N`")
	flags.Uint64Var(&f.seed, "seed", 0, "`N` decides faults and kills; default: drawn, and printed")
	flags.IntVar(&f.maxInFlight, "max-in-flight", 8, "requests in flight at once, `N`")
	flags.StringVar(&f.erp, "erp", "", "alone: only ask the configured ERP SELECTs without a table; with a `DSN`: an "+
		"empty PostgreSQL database for the ERP of the trial; default: SQLite")
	flags.Lookup("erp").NoOptDefVal = configured
	flags.StringVar(&f.ledger, "ledger", "",
		"`DSN` of an empty PostgreSQL database for the ledger of the trial; default: SQLite")
	flags.StringVar(&f.dir, "dir", "",
		"empty `FOLDER` for the trial, which is kept; default: one that is removed at the end")
	return cmd
}

// configured is the value of --erp without a DSN.
const configured = "configured"

// battery queries the configured ERP for what every engine must answer, and prints line by line
// what differs. It writes nothing and opens no ledger.
func battery(ctx context.Context, a *cli.App) error {
	source, err := a.OpenERP(ctx)
	if err != nil {
		return err
	}
	facts, err := source.Facts(ctx)
	if err != nil {
		return err
	}
	differ := 0
	show := func(f erp.Finding) {
		if f.Result == erp.Differs {
			differ++
		}
		if a.AsJSON {
			err = errors.Join(err, a.PrintJSON(f))
			return
		}
		line, key := strings.CutPrefix(f.Line, "key ")
		name := a.Text(i18n.Key("battery.line." + line))
		if key {
			name = a.Text("battery.key", name)
		}
		var got any = f.Got
		if f.Err != nil {
			got = f.Err
		}
		switch f.Result {
		case erp.Passed:
			a.Show("battery.passed", name, got)
		case erp.Differs:
			a.Show("battery.differs", name, f.Want, got)
		default:
			a.Show("battery.not_asked", name)
		}
		err = errors.Join(err, a.Out.Flush())
	}
	show(erp.Finding{
		Line: "database", Result: erp.Passed,
		Got: strings.TrimSpace(facts.Product+" "+facts.Version) + ", " + facts.Charset + ", " + source.Target(),
	})
	if err := errors.Join(source.Battery(ctx, show), err); err != nil {
		return err
	}
	if differ > 0 {
		return errors.New(a.Text("battery.failed", differ))
	}
	if !a.AsJSON {
		a.Show("battery.well")
	}
	return nil
}

// selftest runs this binary, kills it again and again, and verifies that no row was lost or sent
// twice. It does not read the configuration.
func selftest(a *cli.App, cmd *cobra.Command, f selftestFlags) (err error) {
	if f.kills < 1 || f.maxInFlight < 1 {
		return &cli.UsageError{Text: "--kills, --max-in-flight: 1 …"}
	}
	binary, err := os.Executable()
	if err == nil {
		err = a.MayOpen(cli.ToWrite)
	}
	if err != nil {
		return err
	}
	if f.dir == "" {
		f.dir, err = os.MkdirTemp("", "safrasync-selftest-")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(f.dir)) }()
	} else if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	if f.seed == 0 {
		f.seed = rand.Uint64N(1<<53-1) + 1 // every JSON reader can represent it exactly
	}
	opts := torture.Rack{
		Binary: binary, Dir: f.dir, Kills: f.kills, Seed: f.seed, MaxInFlight: f.maxInFlight,
		Progress: func(v torture.Verdict) { a.Tell("selftest.progress", v.Kills, f.kills) },
	}
	if f.erp != "" {
		opts.ERP = torture.Database{Driver: "postgres", DSN: f.erp}
	}
	if f.ledger != "" {
		opts.Ledger = torture.Database{Driver: "postgres", DSN: f.ledger}
	}
	a.Tell("selftest.begins", f.kills, f.seed)
	v, err := torture.Run(cmd.Context(), opts)
	if err != nil {
		return err
	}
	if err := printVerdict(a, v); err != nil {
		return err
	}
	if !v.Clean() {
		return errors.New(a.Text("selftest.failed", f.seed))
	}
	return nil
}

func printVerdict(a *cli.App, v torture.Verdict) error {
	if a.AsJSON {
		return a.PrintJSON(v)
	}
	a.Show("selftest.verdict", v.Kills, v.Rows, v.Records, v.Lost, v.Doubled, v.FalseAccepted, v.Orphaned, v.InDoubt,
		v.MostDoubts, v.MaxInFlight, v.Undecided)
	if len(v.Examples) > 0 {
		a.Show("selftest.examples", strings.Join(v.Examples, "\n  "))
	}
	return nil
}
