package main

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/sync/rehearse"
)

// complete fills in what a proposal left open, as a person would: each replacement stands in the
// file exactly once.
func (p *program) complete(file string, fill map[string]string) {
	p.t.Helper()
	// what a person has looked at
	text := regexp.MustCompile(`(?m)^ +-- PREENCHER: .*\n`).ReplaceAllString(p.read(file), "")
	for old, fresh := range fill {
		if strings.Count(text, old) != 1 {
			p.t.Errorf("the proposal has %q %d times, want once:\n%s", old, strings.Count(text, old), text)
		}
		text = strings.Replace(text, old, fresh, 1)
	}
	p.write(file, text)
}

// audit returns the rules that rows break under a configuration, without the names that a person
// chose.
func (p *program) audit(config string) ([]rehearse.Breach, []rehearse.Shortness, [3]int) {
	p.t.Helper()
	out, _ := p.run(0, "--config", config, "explain", "contracts", "--json")
	doc := fromJSON[struct{ ERP rehearse.Audit }](p.t, out)
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

// staysOpen checks that check finds nothing but what the proposal marked.
func (p *program) staysOpen(file string, want int) {
	p.t.Helper()
	_, err := config.LoadWithoutSecrets(p.path(file), nil)
	faults, ok := errors.AsType[*config.Error](err)
	if !ok {
		p.t.Fatalf("the proposal is accepted as it is: %v", err)
	}
	for _, f := range faults.Faults {
		if f.Text != config.StillToFillIn {
			p.t.Errorf("the proposal has a fault that is not marked: %s", f)
		}
	}
	if len(faults.Faults) != want {
		p.t.Errorf("%d places are open, want %d:\n%v", len(faults.Faults), want, err)
	}
	p.run(cli.ExitConfig, "--config", p.path(file), "check", "--offline")
}

// The proposal for the demo's ERP, once completed, finds the same faults in the same rows as the
// configuration that people wrote for it.
func TestInitProposesTheSampleERPOfTheDemo(t *testing.T) {
	t.Parallel()
	b := newProgram(t)
	b.env = map[string]string{"SAFRASYNC_API_KEY": "key", "LANG": "pt_BR.UTF-8"}
	b.run(0, "demo", "--dir", b.path("demo"))
	out, _ := b.run(0, "--config", b.path("new.yaml"), "init", "--driver", "sqlite", "--dsn", b.path("demo/erp.db"),
		"--contracts", "CONTRATO")
	if !strings.Contains(out, "values.contracts_product.001: a preencher") ||
		!strings.Contains(out, "explain contracts") {
		t.Errorf("init does not tell what remains:\n%s", out)
	}
	b.staysOpen("new.yaml", 17)
	b.complete("new.yaml", map[string]string{
		"base_url: PREENCHER": "base_url: https://api.example.com", `"001": PREENCHER`: `"001": SOJA`,
		`"002": PREENCHER`: `"002": MILHO`,
		`"003": PREENCHER`: `"003": TRIGO`, `    "FEIJAO": PREENCHER`: "    #", `    "SAFRA NOVA": PREENCHER`: "    #",
		`"TRIGO 26": PREENCHER`: `"TRIGO 26": 2026/2026`,
		`"TL": PREENCHER`:       `"TL": TON`, `"AF": PREENCHER`: `"AF": A_FIXAR`, `"CP": PREENCHER`: `"CP": COMPRA`,
		`"FC": PREENCHER`: `"FC": FIXACAO_COMPRA`, `"FD": PREENCHER`: `"FD": FIXACAO_DEPOSITO`,
		`"D": PREENCHER`: `"D": DINHEIRO`, `"T": PREENCHER`: `"T": TROCA`,
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
	b := newProgram(t)
	b.env = m.env
	out, _ := b.run(0, "init", "--driver", "postgres", "--dsn", "${env:SAFRASYNC_ERP_DSN}", "--list")
	if !strings.Contains(out, "coop.contrato (table") {
		t.Errorf("the list has no contracts:\n%s", out)
	}
	b.run(0, "--config", b.path("new.yaml"), "init", "--driver", "postgres", "--dsn", "${env:SAFRASYNC_ERP_DSN}",
		"--contracts", "coop.contrato")
	b.staysOpen("new.yaml", 5)
	b.complete("new.yaml", map[string]string{
		"base_url: PREENCHER": "base_url: https://api.example.com", ">= 'PREENCHER'": ">= '2026-01-01'",
		"/var/lib/safrasync/state.db": b.path("new.db"), `"t": PREENCHER`: `"t": TON`,
		`    "feijao": PREENCHER`: "    #", `    "bag": PREENCHER`: "    #",
		"    key: [filial_id, numero] # unique index": "    key: [filial_id, numero]",
		`{column: preco_unitario, empty: ["0"]}`:      "preco_unitario",
	})
	b.run(0, "--config", b.path("new.yaml"), "state", "new")
	b.run(0, "--config", b.path("new.yaml"), "check", "--offline")
	got, gotMissing, gotCounts := b.audit(b.path("new.yaml"))
	want, wantMissing, wantCounts := b.audit(m.file)
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
