package demo

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	_ "embed" // the sample cooperative
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/cmd/safrasync/commands"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// The sample cooperative: its ERP, the corrections made before the third run, the records of the
// platform, and the configuration.
var (
	//go:embed erp.sql
	demoERP string
	//go:embed correct.sql
	demoCorrections string
	//go:embed world.json
	demoWorld []byte
	//go:embed config.yaml
	demoConfig string
)

// The files of the demo, in its folder.
const (
	ConfigFile = "config.yaml"
	ERPFile    = "erp.db"
	StateFile  = "state.db"
	WorldFile  = "world.json"
	KeyFile    = "api-key"
	demoKey    = "demo-key" // is valid for a sandbox on loopback only
)

// demoLost is the start of the request whose answer is lost, for contract 04|001094. demoSeed makes
// the platform's ids the same in each demo.
const (
	demoLost = `{"amount":3550,"producer_id":"2a470551-515b-5be1-84e8-37a789b7c5af",`
	demoSeed = 2026
)

// demoAddress is the default address of `safrasync sandbox`. A demo that is kept uses it if it is
// free, so that its configuration also fits a sandbox that is started later.
const demoAddress = "127.0.0.1:8089"

// NewCommand makes the command demo. It runs the program on embedded samples: it sends the valid
// rows, proves that nothing is sent twice, and explains the rows that were not sent.
func NewCommand(a *cli.App) *cobra.Command {
	var dir, lang string
	cmd := a.Command("demo [--dir DIR] [--lang LANG]", "show everything on sample data: ERP, platform, sending and report", cli.Exactly(0),
		func(ctx context.Context, _ []string) (err error) {
			d := &demo{app: a, dir: dir, kept: dir != "", env: a.Env}
			if lang != "" {
				if !slices.Contains([]string{"pt-BR", "pt", "en"}, lang) {
					return a.Usage("there is no language %q; the languages are pt-BR and en", lang)
				}
				d.env = func(name string) (string, bool) {
					if name == "LC_ALL" {
						return lang, true
					}
					return a.Env(name)
				}
			}
			defer func() {
				errs := []error{err}
				if d.platform != nil {
					errs = append(errs, d.platform.Close())
				}
				if !d.kept && d.dir != "" {
					errs = append(errs, os.RemoveAll(d.dir))
				}
				err = errors.Join(errs...)
			}()
			if err := d.prepare(ctx); err != nil {
				return err
			}
			return d.play(ctx)
		})
	cmd.Long = a.Text("Creates a sample ERP (SQLite) with a few hundred contracts, deliveries and traceability rows of an imaginary cooperative, several with\nproblems; starts a test platform on this host; sends what is ready, runs again (nothing is sent twice), corrects some data and runs once\nmore. It uses no network and leaves nothing on the disk, except with --dir.")
	cmd.Flags().StringVar(&dir, "dir", "",
		"keep everything in `DIR`, a new or empty folder, to try the other commands on it")
	cmd.Flags().StringVar(&lang, "lang", "", "`LANG` of what is shown: pt-BR or en; default: that of the environment")
	return cmd
}

// demo is one execution of the demo.
type demo struct {
	app      *cli.App // of the command line; its streams are used
	dir      string
	kept     bool // the folder is kept
	env      func(string) (string, bool)
	platform *sandbox.Running
}

// prepare creates the folder, the ERP, the platform and the configuration.
func (d *demo) prepare(ctx context.Context) error {
	var err error
	if !d.kept {
		d.dir, err = os.MkdirTemp("", "safrasync-demo-")
		if err != nil {
			return fmt.Errorf("make a folder for the demo: %w", err)
		}
	} else {
		d.dir, err = filepath.Abs(d.dir) // the configuration must work from every working directory
		if err != nil {
			return fmt.Errorf("find the demo's folder: %w", err)
		}
		if err := os.MkdirAll(d.dir, 0o700); err != nil {
			return fmt.Errorf("make the demo's folder: %w", err)
		}
		found, err := os.ReadDir(d.dir)
		if err != nil {
			return fmt.Errorf("look into the demo's folder: %w", err)
		}
		if len(found) > 0 {
			return d.inner().Usage("the folder %s is not empty; name a new one, so that the demo overwrites nothing", d.dir)
		}
	}
	if err := d.changeERP(ctx, demoERP); err != nil {
		return err
	}
	if err := os.WriteFile(d.path(WorldFile), demoWorld, 0o600); err != nil {
		return fmt.Errorf("write what the demo's platform knows: %w", err)
	}
	world, err := sandbox.LoadWorld(d.path(WorldFile))
	if err != nil {
		return err
	}
	// It listens on a free port; a demo that is kept tries the usual one first. The answer to one contract
	// is lost after the platform has created it, as happens in real networks.
	opts := sandbox.Options{
		APIKey: demoKey, World: world, Seed: demoSeed,
		Intercept: func(r *http.Request, _ int) *sandbox.Disturbance {
			body, err := io.ReadAll(r.Body)
			if err != nil || !bytes.HasPrefix(body, []byte(demoLost)) {
				return nil
			}
			return &sandbox.Disturbance{Do: sandbox.Lose, Commit: true}
		},
	}
	if d.kept {
		d.platform, err = sandbox.Start(opts, demoAddress)
	}
	if !d.kept || err != nil {
		d.platform, err = sandbox.Start(opts, "127.0.0.1:0")
	}
	if err != nil {
		return err
	}
	if err := os.WriteFile(d.path(KeyFile), []byte(demoKey+"\n"), 0o600); err != nil {
		return fmt.Errorf("write the demo's key: %w", err)
	}
	config := strings.NewReplacer("{{base_url}}", config.YAMLText(d.platform.URL),
		"{{erp}}", config.YAMLText(d.path(ERPFile)),
		"{{state}}", config.YAMLText(d.path(StateFile)))
	if err := os.WriteFile(d.path(ConfigFile), []byte(config.Replace(demoConfig)), 0o600); err != nil {
		return fmt.Errorf("write the demo's configuration: %w", err)
	}
	ledger, err := state.New(ctx, state.OpenOptions{
		Driver: state.SQLite, DSN: d.path(StateFile),
		Journal: d.path("journal"), Version: d.app.Version,
	})
	if err != nil {
		return err
	}
	return ledger.Close()
}

func (d *demo) path(file string) string { return filepath.Join(d.dir, file) }

// changeERP does what the cooperative's own program would do. safrasync itself only ever reads the
// ERP.
func (d *demo) changeERP(ctx context.Context, statements string) error {
	db, err := sql.Open("sqlite", d.path(ERPFile))
	if err != nil {
		return fmt.Errorf("open the sample ERP: %w", err)
	}
	_, err = db.ExecContext(ctx, "BEGIN; "+statements+"; COMMIT")
	if err = errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("change the sample ERP: %w", err)
	}
	return nil
}

// play does the three runs, then shows the status and the report, and what can be tried next.
func (d *demo) play(ctx context.Context) error {
	a := d.inner()
	a.Tell("sample ERP created; test platform at %s", d.platform.URL)
	first, platform, err := d.run(ctx, "run 1: everything is new")
	if err != nil {
		return err
	}
	if err := d.show("sync", func(a *cli.App) error {
		o, err := a.Office(ctx, cli.ToRead, cli.NoERP)
		if err != nil {
			return err
		}
		return commands.PrintSync(ctx, a, o, first, commands.SyncFlags{}, nil, nil)
	}); err != nil {
		return err
	}
	second, _, err := d.run(ctx, "run 2: nothing changed in the ERP")
	if err != nil {
		return err
	}
	for _, r := range second {
		if r.Sent > 0 {
			return fmt.Errorf("the second run sent %d rows of job %s: please report this fault of the program",
				r.Sent, r.Job)
		}
	}
	if err := d.show("sync", func(a *cli.App) error {
		fmt.Fprintln(a.Out, a.Text("Run 2 sent 0: what was sent is not sent again. The platform confirms it: it has %d {contract|contracts}, %d {delivery|deliveries} and %d traceability rows.", platform[trade.OrderCommitments], platform[trade.Deliveries],
			platform[trade.Traceability]))
		return nil
	}); err != nil {
		return err
	}
	if err := d.changeERP(ctx, demoCorrections); err != nil {
		return err
	}
	third, platform, err := d.run(ctx, "run 3: somebody corrected the ERP")
	if err != nil {
		return err
	}
	if d.app.AsJSON {
		return a.PrintJSON(struct {
			Runs     [][]trade.RunReport `json:"runs"`
			Platform map[trade.Kind]int  `json:"platform"` // number of records on the platform
		}{[][]trade.RunReport{first, second, third}, platform})
	}
	err = errors.Join(
		d.show("sync", func(a *cli.App) error {
			fmt.Fprintln(a.Out, a.Text("In the ERP two contracts were completed and a wallet got its de-para; run 3 automatically sent %d {contract|contracts}, %d {delivery|deliveries} and %d traceability {row|rows} that had been waiting. Contract 02|001001 changed its price and delivery 03|50002|1 moved to another contract after they were sent: they were not sent again, and are flagged.", third[0].Sent, third[1].Sent, third[2].Sent))
			return nil
		}),
		d.show("status", func(a *cli.App) error { return commands.Status(ctx, a) }),
		d.show("report --section summary", func(a *cli.App) error {
			return commands.PrintReport(ctx, a, commands.ReportFlags{
				Sections: []string{string(reconcile.SummarySection)},
			})
		}),
	)
	fmt.Fprintln(a.Out)
	if !d.kept {
		fmt.Fprintln(a.Out, a.Text("Nothing was left on the disk. To try the other commands: safrasync demo --dir FOLDER"))
		return err
	}
	fmt.Fprintf(a.Out, "%s\n\n", a.Text("Everything is in %s. Try:", d.dir)) // then what can be tried next
	commands := []string{
		"rows --state invalid", "why contracts '02|001028'", "why deliveries '01|50009|1'",
		"why contracts '01|001031' --request", "sync --dry-run", "report --output report.xlsx",
	}
	windows := runtime.GOOS == "windows" // it writes no file of a report, sends nothing, and knows other quotes
	if windows {
		commands[len(commands)-1] = "report"
	}
	for _, command := range commands {
		if windows {
			command = strings.ReplaceAll(command, "'", `"`)
		}
		fmt.Fprintf(a.Out, "  safrasync --config %s %s\n", shellWord(d.path(ConfigFile)), command)
	}
	if !windows {
		fmt.Fprintf(a.Out, "\n%s\n\n  safrasync sandbox --listen %s --world %s --api-key %s\n",
			a.Text("To send, the test platform must be running (in another terminal):"), strings.TrimPrefix(d.platform.URL, "http://"),
			shellWord(d.path(WorldFile)), demoKey)
	}
	return err
}

// inner returns an App with the demo's configuration.
func (d *demo) inner() *cli.App {
	return &cli.App{
		Stdin: d.app.Stdin, Stdout: d.app.Stdout, Stderr: d.app.Stderr, Env: d.env,
		ConfigPath: d.path(ConfigFile), Version: d.app.Version, AsJSON: d.app.AsJSON, Verbose: d.app.Verbose,
		Out: d.app.Out, Demo: true,
	}
}

// show prints a command and its output. With --json it prints nothing.
func (d *demo) show(command string, fn func(a *cli.App) error) error {
	if d.app.AsJSON {
		return nil
	}
	a := d.inner()
	fmt.Fprintf(a.Out, "\n$ safrasync %s\n", command)
	return errors.Join(fn(a), a.Out.Flush(), a.Close()) // what is told next goes to another stream
}

// run does `safrasync sync --sweep --json` with the demo's configuration. It verifies that the
// ledger and the platform agree, and returns the number of the platform's records.
func (d *demo) run(ctx context.Context,
	title i18n.Key,
) (reports []trade.RunReport, platform map[trade.Kind]int, err error) {
	a := d.inner()
	a.Tell(title)
	a.AsJSON, a.Out = true, bufio.NewWriter(io.Discard)
	reports, err = commands.Sync(ctx, a, nil, commands.SyncFlags{Sweep: true})
	err = errors.Join(err, a.Out.Flush(), a.Close())
	for _, r := range reports {
		if r.Stopped != nil {
			return nil, nil, fmt.Errorf("job %s of the demo stopped (%s): %s", r.Job, r.Stopped.Code,
				r.Stopped.Sentence())
		}
	}
	if err != nil {
		return nil, nil, err
	}
	platform, err = d.compare(ctx)
	return reports, platform, err
}

// compare returns an error unless ledger and platform agree for each kind: every row that was sent
// is on the platform once, and nothing else is, except the records whose answer was lost.
func (d *demo) compare(ctx context.Context) (platform map[trade.Kind]int, err error) {
	there := map[string]int{}
	platform, known := map[trade.Kind]int{}, map[trade.Kind]int{}
	for _, record := range d.platform.CreatedOf() {
		there[record.Resource+record.ID]++
		platform[trade.Kind(record.Resource)]++
	}
	a := d.inner()
	defer phrase.Join(&err, a.Close)
	o, err := a.Office(ctx, cli.ToRead, cli.NoERP)
	if err != nil {
		return nil, err
	}
	err = o.Rows(ctx, trade.RowQuery{}, func(e trade.Entry) error {
		switch e.State {
		case trade.Accepted:
			known[e.Sends]++
			if n := there[string(e.Sends)+e.RemoteID]; n != 1 {
				return fmt.Errorf(
					"the platform has %s %s %d times instead of once: please report this fault of the program",
					e.Job, e.Key, n)
			}
		case trade.InDoubt:
			known[e.Sends]++
		}
		return nil
	})
	if err == nil && !maps.Equal(known, platform) {
		err = fmt.Errorf("the platform has %v and the ledger %v: please report this fault of the program",
			platform, known)
	}
	return platform, err
}

// shellWord quotes a path if a shell would split or expand it.
func shellWord(path string) string {
	plain := func(r rune) bool {
		return strings.ContainsRune("/._-+:@%", r) || r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r))
	}
	if strings.IndexFunc(path, func(r rune) bool { return !plain(r) }) < 0 {
		return path
	}
	if runtime.GOOS == "windows" {
		return `"` + path + `"`
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
