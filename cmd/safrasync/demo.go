package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed" // the configuration of the demo
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

//go:embed demo/config.yaml
var demoConfig string

// The files of the demo, in its folder.
const (
	demoConfigFile = "config.yaml"
	demoERPFile    = "erp.db"
	demoStateFile  = "state.db"
	demoWorldFile  = "world.json"
	demoKeyFile    = "api-key"
	demoKey        = "demo-key" // opens nothing but a sandbox on loopback
)

// demoAddress is where `safrasync sandbox` listens unless told otherwise. A demo that is kept takes it when it is free, so that the written
// configuration fits the next sandbox too.
const demoAddress = "127.0.0.1:8089"

func newDemoCommand(a *App) *cobra.Command {
	var dir, lang string
	cmd := a.command("demo [--dir DIR] [--lang LANG]", helpDemo, exactly(0), func(cmd *cobra.Command, _ []string) error {
		return a.demo(cmd.Context(), dir, lang)
	})
	cmd.Long = a.text(helpDemoLong)
	cmd.Flags().StringVar(&dir, "dir", "", "keep everything in `DIR`, a new or empty folder, to try the other commands on it")
	cmd.Flags().StringVar(&lang, "lang", "", "`LANG` of what is shown: pt-BR or en; default: that of the environment")
	return cmd
}

// demo shows the whole thing on embedded parts: it sends what is in order, proves that nothing goes twice, and explains what did not go.
func (a *App) demo(ctx context.Context, dir, lang string) (err error) {
	d := &demo{app: a, dir: dir, kept: dir != "", env: a.Env}
	if lang != "" {
		if !slices.Contains([]string{"pt-BR", "pt", "en"}, lang) {
			return a.usage(saysDemoLang, lang)
		}
		d.env = func(name string) (string, bool) {
			if name == "LC_ALL" {
				return lang, true
			}
			return a.Env(name)
		}
	}
	if err := d.prepare(ctx); err != nil {
		return errors.Join(err, d.close())
	}
	defer func() { err = errors.Join(err, d.close()) }()
	return d.play(ctx)
}

// demo is one showing.
type demo struct {
	app      *App // of the command line: where it prints
	dir      string
	kept     bool // the folder stays
	env      func(string) (string, bool)
	erp      *demoERP
	platform *sandbox.Running
}

// prepare makes the folder, the ERP, the platform and the configuration.
func (d *demo) prepare(ctx context.Context) error {
	if err := d.makeFolder(); err != nil {
		return err
	}
	var err error
	if d.erp, err = createDemoERP(ctx, d.path(demoERPFile)); err != nil {
		return err
	}
	if err := writeDemoWorld(d.path(demoWorldFile)); err != nil {
		return err
	}
	world, err := sandbox.LoadWorld(d.path(demoWorldFile))
	if err != nil {
		return err
	}
	if err := d.startPlatform(world); err != nil {
		return err
	}
	if err := os.WriteFile(d.path(demoKeyFile), []byte(demoKey+"\n"), 0o600); err != nil {
		return fmt.Errorf("write the demo's key: %w", err)
	}
	config := strings.NewReplacer("{{base_url}}", yamlText(d.platform.URL), "{{erp}}", yamlText(d.path(demoERPFile)), "{{state}}", yamlText(d.path(demoStateFile)))
	if err := os.WriteFile(d.path(demoConfigFile), []byte(config.Replace(demoConfig)), 0o600); err != nil {
		return fmt.Errorf("write the demo's configuration: %w", err)
	}
	ledger, err := state.New(ctx, state.Options{Driver: state.SQLite, DSN: d.path(demoStateFile), Journal: d.path("journal"), Version: version})
	if err != nil {
		return err
	}
	return ledger.Close()
}

// makeFolder takes a folder only when nothing is in it: a demo never overwrites a ledger.
func (d *demo) makeFolder() error {
	if !d.kept {
		dir, err := os.MkdirTemp("", "safrasync-demo-")
		if err != nil {
			return fmt.Errorf("make a folder for the demo: %w", err)
		}
		d.dir = dir
		return nil
	}
	dir, err := filepath.Abs(d.dir) // the configuration must hold wherever it is used from
	if err != nil {
		return fmt.Errorf("find the demo's folder: %w", err)
	}
	d.dir = dir
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the demo's folder: %w", err)
	}
	found, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("look into the demo's folder: %w", err)
	}
	if len(found) > 0 {
		return d.inner().usage(saysDemoNotEmpty, dir)
	}
	return nil
}

func (d *demo) path(file string) string { return filepath.Join(d.dir, file) }

// startPlatform listens on a free port. A demo that is kept tries its usual one first. The answer to one contract is lost after the platform has
// created it, as networks do.
func (d *demo) startPlatform(world *sandbox.World) (err error) {
	lost := demoLostContract(d.erp.contracts)
	request := fmt.Sprintf(`{"amount":%s,"producer_id":%q,`, lost.Amount, demoID("produtor", lost.Producer))
	opts := sandbox.Options{APIKey: demoKey, World: world, Seed: demoSeed, Intercept: func(r *http.Request, _ int) *sandbox.Fault {
		body, err := io.ReadAll(r.Body)
		if err != nil || !bytes.HasPrefix(body, []byte(request)) {
			return nil
		}
		return &sandbox.Fault{Do: sandbox.Lose, Commit: true}
	}}
	if d.kept {
		if d.platform, err = sandbox.Start(opts, demoAddress); err == nil {
			return nil
		}
	}
	d.platform, err = sandbox.Start(opts, "127.0.0.1:0")
	return err
}

func (d *demo) close() error {
	var errs []error
	if d.platform != nil {
		errs = append(errs, d.platform.Close())
	}
	if d.erp != nil {
		errs = append(errs, d.erp.close())
	}
	if !d.kept && d.dir != "" {
		errs = append(errs, os.RemoveAll(d.dir))
	}
	return errors.Join(errs...)
}

// play does the three runs and reports.
func (d *demo) play(ctx context.Context) error {
	scope, err := d.erp.scope(ctx)
	if err != nil {
		return err
	}
	p := &demoPrinter{App: d.inner()}
	p.tell(saysDemoPrepared, scope.Rows, scope.Lines, scope.Shares, d.platform.URL)
	first, err := d.run(ctx, p, saysDemoFirst)
	if err != nil {
		return err
	}
	second, err := d.run(ctx, p, saysDemoSecond)
	if err != nil {
		return err
	}
	cure, err := d.erp.cure(ctx)
	if err != nil {
		return err
	}
	third, err := d.run(ctx, p, saysDemoThird)
	if err != nil {
		return err
	}
	want := map[trade.Kind]int{trade.OrderCommitments: cure.Blocked + 2, trade.Deliveries: cure.Deliveries, trade.Traceability: cure.Shares}
	if err := errors.Join(second.sentOnly(nil), third.sentOnly(want)); err != nil {
		return err
	}
	if d.app.asJSON {
		return p.printJSON(struct {
			Runs     [][]trade.RunReport `json:"runs"`
			Platform map[trade.Kind]int  `json:"platform"` // records that the platform has
		}{[][]trade.RunReport{first.reports, second.reports, third.reports}, third.platform})
	}
	p.opening(scope, first, second)
	p.sent(first)
	p.sentChildren(first)
	p.causes(first)
	p.cured(cure, first, third)
	p.further(d)
	return nil
}

// inner is the program as it runs on the demo's configuration.
func (d *demo) inner() *App {
	return &App{
		Stdin: d.app.Stdin, Stdout: d.app.Stdout, Stderr: d.app.Stderr, Env: d.env,
		configPath: d.path(demoConfigFile), asJSON: d.app.asJSON, verbose: d.app.verbose, out: d.app.out,
	}
}

// run is `safrasync sync --sweep --json` on the demo's configuration, and what the ledger and the platform have afterwards.
func (d *demo) run(ctx context.Context, p *demoPrinter, title phrase) (run demoRun, err error) {
	p.tell(title)
	var result bytes.Buffer
	a := d.inner()
	a.asJSON, a.out = true, bufio.NewWriter(&result)
	syncErr := errors.Join(a.sync(ctx, nil, syncFlags{sweep: true}), a.out.Flush(), a.close())
	var summary struct{ Runs []trade.RunReport }
	if err := json.Unmarshal(result.Bytes(), &summary); err != nil || len(summary.Runs) == 0 {
		return run, errors.Join(fmt.Errorf("the demo's run gave no report"), syncErr, err)
	}
	run.reports = summary.Runs
	for _, r := range run.reports {
		if r.Stopped != nil {
			return run, fmt.Errorf("job %s of the demo stopped (%s): %s", r.Job, r.Stopped.Code, r.Stopped.Text)
		}
	}
	if syncErr != nil {
		return run, syncErr
	}
	a = d.inner()
	defer func() { err = errors.Join(err, a.close()) }()
	store, err := a.openLedger(ctx, toRead)
	if err != nil {
		return run, err
	}
	err = store.Rows(ctx, trade.RowFilter{}, func(e trade.Entry) error {
		run.entries = append(run.entries, e)
		return nil
	})
	run.jobs, run.platform = a.config.JobSpecs(), map[trade.Kind]int{}
	return run, errors.Join(err, run.agrees(d.platform.CreatedOf()))
}
