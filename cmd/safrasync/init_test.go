package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/cmd/safrasync/config"
	"github.com/safrasync/safrasync/sync/rehearse"
)

// initBench runs commands on a proposal.
type initBench struct {
	t   *testing.T
	dir string
	env map[string]string
}

func (b *initBench) run(code int, args ...string) (stdout, stderr string) {
	b.t.Helper()
	var out, errs bytes.Buffer
	app := cli.App{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Env: func(name string) (string, bool) { v, ok := b.env[name]; return v, ok },
	}
	if got := execute(b.t.Context(), &app, args); got != code {
		b.t.Fatalf("safrasync %s exits with %d, want %d\n%s\n%s", strings.Join(args, " "), got, code, out.String(),
			errs.String())
	}
	return out.String(), errs.String()
}

func (b *initBench) path(name string) string { return filepath.Join(b.dir, name) }

// complete fills in what a proposal left open, as a person would: each replacement stands in the
// file exactly once.
func (b *initBench) complete(file string, fill map[string]string) {
	b.t.Helper()
	raw, err := os.ReadFile(b.path(file))
	if err != nil {
		b.t.Fatal(err)
	}
	// what a person has looked at
	text := regexp.MustCompile(`(?m)^ +-- PREENCHER: .*\n`).ReplaceAllString(string(raw), "")
	for old, fresh := range fill {
		if strings.Count(text, old) != 1 {
			b.t.Errorf("the proposal has %q %d times, want once:\n%s", old, strings.Count(text, old), text)
		}
		text = strings.Replace(text, old, fresh, 1)
	}
	if err := os.WriteFile(b.path(file), []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// audit gives the rules that rows break under a configuration, without the names that a person
// chose.
func (b *initBench) audit(config string) ([]rehearse.Breach, []rehearse.Shortness, [3]int) {
	b.t.Helper()
	out, _ := b.run(0, "--config", config, "explain", "contracts", "--json")
	var doc struct{ ERP rehearse.Audit }
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		b.t.Fatal(err)
	}
	for i := range doc.ERP.Breaches {
		doc.ERP.Breaches[i].Keys = nil
		doc.ERP.Breaches[i].Detail = strings.TrimPrefix(strings.Replace(doc.ERP.Breaches[i].Detail, "values ", "", 1),
			"contracts_")
	}
	for i := range doc.ERP.Missing {
		doc.ERP.Missing[i].Keys = nil
	}
	return doc.ERP.Breaches, doc.ERP.Missing, [3]int{doc.ERP.Invalid, doc.ERP.Waiting, doc.ERP.Cancelled}
}

// staysOpen tells that check finds nothing but what the proposal marked.
func (b *initBench) staysOpen(file string, want int) {
	b.t.Helper()
	_, err := config.LoadWithoutSecrets(b.path(file), nil)
	faults, ok := errors.AsType[*config.Error](err)
	if !ok {
		b.t.Fatalf("the proposal is accepted as it is: %v", err)
	}
	for _, f := range faults.Faults {
		if f.Text != config.StillToFillIn {
			b.t.Errorf("the proposal has a fault that is not marked: %s", f)
		}
	}
	if len(faults.Faults) != want {
		b.t.Errorf("%d places are open, want %d:\n%v", len(faults.Faults), want, err)
	}
	b.run(cli.ExitConfig, "--config", b.path(file), "check", "--offline")
}

// The proposal for the demo's ERP, once completed, finds the same faults in the same rows as the
// configuration that people wrote for it.
func TestInitProposesTheSampleERPOfTheDemo(t *testing.T) {
	t.Parallel()
	b := &initBench{t, t.TempDir(), map[string]string{"SAFRASYNC_API_KEY": "key", "LANG": "pt_BR.UTF-8"}}
	b.run(0, "demo", "--dir", b.path("demo"))
	out, _ := b.run(0, "--config", b.path("new.yaml"), "init", "--driver", "sqlite", "--dsn", b.path("demo/erp.db"),
		"--contracts", "CONTRATO")
	if !strings.Contains(out, "values.contracts_product.001: a preencher") ||
		!strings.Contains(out, "explain contracts") {
		t.Errorf("init does not tell what remains:\n%s", out)
	}
	b.staysOpen("new.yaml", 10)
	b.complete("new.yaml", map[string]string{
		"base_url: PREENCHER": "base_url: https://api.example.com", `"001": PREENCHER`: `"001": SOJA`,
		`"002": PREENCHER`: `"002": MILHO`,
		`"003": PREENCHER`: `"003": TRIGO`, `    "FEIJAO": PREENCHER`: "    #", `    "SAFRA NOVA": PREENCHER`: "    #",
		`"TRIGO 26": PREENCHER`: `"TRIGO 26": 2026/2026`,
		// what the cooperative decided
		"values: contracts_payment_type": "values: contracts_payment_type, default: DINHEIRO",
		`    "SACA": PREENCHER`:          "    #", `    "BAG": PREENCHER`: "    #", ">= 'PREENCHER'": ">= '20240101'",
		"/var/lib/safrasync/state.db": b.path("new.db"),
	})
	b.run(0, "--config", b.path("new.yaml"), "state", "new")
	b.run(0, "--config", b.path("new.yaml"), "check", "--offline")
	got, gotMissing, gotCounts := b.audit(b.path("new.yaml"))
	want, wantMissing, wantCounts := b.audit(b.path("demo/config.yaml"))
	clean(want)
	clean(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the rules that rows break (-written by people +proposed):\n%s", diff)
	}
	if diff := cmp.Diff(wantMissing, gotMissing); diff != "" {
		t.Errorf("the references that are missing (-written by people +proposed):\n%s", diff)
	}
	if gotCounts != wantCounts {
		t.Errorf("invalid, waiting, cancelled: %v, want %v", gotCounts, wantCounts)
	}
	_, errs := b.run(1, "--config", b.path("new.yaml"), "init", "--driver", "sqlite", "--dsn", b.path("demo/erp.db"),
		"--contracts", "contrato")
	if !strings.Contains(errs, "--force") {
		t.Errorf("the file that is there: %s", errs)
	}
}

// clean takes away the names of value maps, which people choose.
func clean(breaches []rehearse.Breach) {
	for i := range breaches {
		if breaches[i].Rule == "unmapped" {
			breaches[i].Detail = ""
		}
	}
}

func TestInitProposesTheModernERP(t *testing.T) {
	t.Parallel()
	m := newModern(t, "")
	m.env["LANG"] = "en_US.UTF-8"
	b := &initBench{t, t.TempDir(), m.env}
	out, _ := b.run(0, "init", "--driver", "postgres", "--dsn", "${env:SAFRASYNC_ERP_DSN}", "--list")
	if !strings.Contains(out, "coop.contrato (table") {
		t.Errorf("the list has no contracts:\n%s", out)
	}
	b.run(0, "--config", b.path("new.yaml"), "init", "--driver", "postgres", "--dsn", "${env:SAFRASYNC_ERP_DSN}",
		"--contracts", "coop.contrato")
	b.staysOpen("new.yaml", 4)
	b.complete("new.yaml", map[string]string{
		"base_url: PREENCHER": "base_url: https://api.example.com", ">= 'PREENCHER'": ">= '2026-01-01'",
		"/var/lib/safrasync/state.db": b.path("new.db"),
		`    "feijao": PREENCHER`:     "    #", `    "bag": PREENCHER`: "    #",
		"    key: [filial_id, numero] # unique index": "    key: [filial_id, numero]",
		`{column: preco_unitario, empty: ["0"]}`:      "preco_unitario",
	})
	b.run(0, "--config", b.path("new.yaml"), "state", "new")
	b.run(0, "--config", b.path("new.yaml"), "check", "--offline")
	got, gotMissing, gotCounts := b.audit(b.path("new.yaml"))
	want, wantMissing, wantCounts := b.audit(m.config)
	clean(want)
	clean(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the rules that rows break (-written by people +proposed):\n%s", diff)
	}
	if diff := cmp.Diff(wantMissing, gotMissing); diff != "" {
		t.Errorf("the references that are missing (-written by people +proposed):\n%s", diff)
	}
	if gotCounts != wantCounts {
		t.Errorf("invalid, waiting, cancelled: %v, want %v", gotCounts, wantCounts)
	}
}
