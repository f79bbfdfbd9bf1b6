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

// offers checks that the line of each field names the column that people chose for it.
func (p *program) offers(file string, columns map[string]string) {
	p.t.Helper()
	text := p.read(file)
	for field, column := range columns {
		line := regexp.MustCompile(`(?m)^ +#?` + field + `: .*$`).FindString(text)
		if !regexp.MustCompile(`[ {]` + column + `( |,|$)`).MatchString(line) {
			p.t.Errorf("%s is not offered for %s: %s", column, field, line)
		}
	}
}

// The proposal for the demo's ERP names for each field the column that people chose, and stays open
// until somebody has completed it.
func TestInitOffersTheColumnsOfTheSampleERPOfTheDemo(t *testing.T) {
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
	b.offers("new.yaml", map[string]string{
		"amount": "quantidade", "producer_id": "cod_produtor", "issuer_id": "cod_usuario", "product": "produto",
		"delivery_place_id": "cod_local", "haverst": "safra", "unit_of_measurement": "unidade", "order_type": "tipo",
		"order_date": "emissao", "wallet_id": "cod_carteira", "currency": "moeda", "price": "preco",
		"initial_delivery_date": "entrega_inicio", "end_delivery_date": "entrega_fim", "modality": "modalidade",
		"payday": "dt_pagto", "payment_type": "forma_pagto", "changed_at": "alterado_em",
		"cancelled": "situacao", "key": "numero",
	})
	_, errs := b.run(1, "--config", b.path("new.yaml"), "init", "--driver", "sqlite", "--dsn", b.path("demo/erp.db"),
		"--contracts", "contrato")
	if !strings.Contains(errs, "--force") {
		t.Errorf("the file that is there: %s", errs)
	}
}

// The proposal for a modern ERP, whose columns have types and names: what is certain is written,
// and once a person has filled in the rest, the configuration is accepted.
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
	b.staysOpen("new.yaml", 13)
	b.offers("new.yaml", map[string]string{
		"amount": "quantidade", "producer_id": "produtor_id", "issuer_id": "emissor_id", "product": "produto",
		"delivery_place_id": "local_entrega_id", "haverst": "safra", "unit_of_measurement": "unidade",
		"order_type": "tipo", "order_date": "data_contrato", "wallet_id": "carteira_id", "currency": "moeda",
		"price": "preco_unitario", "initial_delivery_date": "entrega_inicio", "end_delivery_date": "entrega_fim",
		"modality": "modalidade", "payday": "data_pagamento", "payment_type": "forma_pagamento",
		"changed_at": "atualizado_em", "cancelled": "situacao",
	})
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
		"order_type":          "order_type: {column: tipo, values: {compra: COMPRA}}",
		"currency":            "currency: moeda", "modality": "modality: {column: modalidade, values: {futuro: FUTURO}}",
		"payment_type": "payment_type: {const: DINHEIRO}",
	} {
		text = regexp.MustCompile(`(?m)^( +)#?`+field+`.*$`).ReplaceAllString(text, "${1}"+line)
	}
	b.write("new.yaml", text)
	b.run(0, "--config", b.path("new.yaml"), "state", "new")
	b.run(0, "--config", b.path("new.yaml"), "check", "--offline")
}
