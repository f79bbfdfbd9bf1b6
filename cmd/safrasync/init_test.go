package main

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/config"
)

// staysOpen checks that check finds nothing but what the proposal marked.
func (p *program) staysOpen(file string, want int) {
	p.t.Helper()
	_, err := config.LoadWithoutSecrets(p.path(file), nil)
	faults, ok := errors.AsType[*config.Error](err)
	if !ok {
		p.t.Fatalf("the proposal is accepted as it is: %v", err)
	}
	for _, f := range faults.Faults {
		if f.Text.Error() != config.StillToFillIn {
			p.t.Errorf("the proposal has a fault that is not marked: %s", f.Path)
		}
	}
	if len(faults.Faults) != want {
		p.t.Errorf("%d places are open, want %d:\n%v", len(faults.Faults), want, err)
	}
	p.run(cli.ExitConfig, "--config", p.path(file), "check", "--offline")
}

// lists checks that the proposal has a line with each column.
func (p *program) lists(file string, columns ...string) {
	p.t.Helper()
	text := p.read(file)
	for _, column := range columns {
		if !strings.Contains(text, "\n    #   "+column+" (") {
			p.t.Errorf("%s is not listed:\n%s", column, text)
		}
	}
}

// The proposal for the demo's ERP lists the columns with values, and stays open until somebody has
// completed it.
func TestInitListsTheColumnsOfTheSampleERPOfTheDemo(t *testing.T) {
	t.Parallel()
	b := newProgram(t)
	b.env = map[string]string{"SAFRASYNC_API_KEY": "key", "LANG": "pt_BR.UTF-8"}
	b.takeDemo(b.path("demo"))
	out, _ := b.run(0, "--config", b.path("new.yaml"), "init", "--driver", "sqlite", "--dsn", b.path("demo/erp.db"),
		"--contracts", "CONTRATO")
	if !strings.Contains(out, "jobs.contracts.fields.product") || !strings.Contains(out, "explain contracts") {
		t.Errorf("init does not tell what remains:\n%s", out)
	}
	b.staysOpen("new.yaml", 15)
	b.lists("new.yaml", "quantidade", "produto", "safra", "situacao")
	_, errs := b.run(1, "--config", b.path("new.yaml"), "init", "--driver", "sqlite", "--dsn", b.path("demo/erp.db"),
		"--contracts", "contrato")
	if !strings.Contains(errs, "--force") {
		t.Errorf("the file that is there: %s", errs)
	}
}

// The proposal for a modern ERP, whose columns have types and names: once a person has
// filled in the fields, the configuration is accepted.
func TestInitProposesTheModernERP(t *testing.T) {
	t.Parallel()
	m := newModern(t)
	b := newProgram(t)
	b.env = m.env
	out, _ := b.run(0, "init", "--driver", "postgres", "--dsn", "${env:SAFRASYNC_ERP_DSN}", "--list")
	if !strings.Contains(out, "coop.contrato (table") {
		t.Errorf("the list has no contracts:\n%s", out)
	}
	b.run(0, "--config", b.path("new.yaml"), "init", "--driver", "postgres", "--dsn", "${env:SAFRASYNC_ERP_DSN}",
		"--contracts", "coop.contrato")
	b.staysOpen("new.yaml", 15)
	b.lists("new.yaml", "quantidade", "produto", "safra", "situacao")
	text := regexp.MustCompile(`(?m)^ +-- PREENCHER: .*\n`).ReplaceAllString(b.read("new.yaml"), "")
	for field, line := range map[string]string{
		"base_url": "base_url: https://api.example.com", "dsn: /var/lib": "dsn: " + b.path("new.db"),
		"producer_id":         "producer_id: {column: produtor_id, ref: producers}",
		"issuer_id":           "issuer_id: {column: emissor_id, ref: users}",
		"delivery_place_id":   "delivery_place_id: {column: local_entrega_id, ref: delivery_places}",
		"wallet_id":           "wallet_id: {column: carteira_id, ref: wallets}",
		"product":             "product: {column: produto, values: {soja: SOJA}}",
		"unit_of_measurement": "unit_of_measurement: {column: unidade, values: {t: TON}}",
		"haverst":             "haverst: safra",
		"amount":              "amount: quantidade", "order_date": "order_date: data_contrato",
		"order_type": "order_type: {column: tipo, values: {compra: COMPRA}}",
		"currency":   "currency: moeda", "modality": "modality: {column: modalidade, values: {futuro: FUTURO}}",
		"payment_type": "payment_type: {const: DINHEIRO}",
	} {
		text = regexp.MustCompile(`(?m)^( +)#?`+field+`.*$`).ReplaceAllString(text, "${1}"+line)
	}
	b.write("new.yaml", text)
	b.run(0, "--config", b.path("new.yaml"), "state", "new")
	b.run(0, "--config", b.path("new.yaml"), "check", "--offline")
}
