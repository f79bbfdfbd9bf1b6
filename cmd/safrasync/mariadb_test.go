package main

import (
	"net/url"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/mariatest"
)

func newMaria(t *testing.T) *modern {
	t.Helper()
	server, name := mariatest.Database(t)
	u := url.URL{
		Scheme: "mysql", User: url.UserPassword(mariatest.User, mariatest.Password), Host: server.Address(),
		Path: "/" + name,
	}
	db := openAdmin(t, "mysql", server.AdminDSN(name))
	db.SetMaxOpenConns(1) // the scripts set the zone of their session
	m := newLegacy(t, db, u.String(), "mariadb.yaml", "")
	m.loadStatements("cereal-mariadb.sql", nil)
	return m
}

// mariaBodies are requests of the first run, to the last byte; namedBodies explains <KEY>.
var mariaBodies = []string{
	`{"amount":1234.56,"producer_id":"1a0b0c0d-0e0f-4abc-8def-000000000001","issuer_id":"2a0b0c0d-0e0f-4abc-8def-000000000001","product":"SOJA",` +
		`"delivery_place_id":"4a0b0c0d-0e0f-4abc-8def-000000000001","haverst":"2025/2026","unit_of_measurement":"SC","order_type":"COMPRA","order_date":"2026-03-10",` +
		`"wallet_id":"3a0b0c0d-0e0f-4abc-8def-000000000001","currency":"BRL","price":131.5,"initial_delivery_date":"2026-04-01","end_delivery_date":"2026-06-30",` +
		`"modality":"BALCAO","payday":"2026-07-15","payment_type":"DINHEIRO"}`,
	`{"amount":60990.5,"producer_id":"1a0b0c0d-0e0f-4abc-8def-000000000001","issuer_id":"2a0b0c0d-0e0f-4abc-8def-000000000001","product":"MILHO",` +
		`"delivery_place_id":"4a0b0c0d-0e0f-4abc-8def-000000000001","haverst":"2025/2026","unit_of_measurement":"KG","order_type":"COMPRA","order_date":"2026-03-10",` +
		`"wallet_id":"3a0b0c0d-0e0f-4abc-8def-000000000001","currency":"BRL","price":1.0667,"initial_delivery_date":"2026-04-01","end_delivery_date":"2026-06-30",` +
		`"modality":"BALCAO","payday":"2026-07-15","payment_type":"DINHEIRO"}`,
	`{"amount":2000,"producer_id":"1a0b0c0d-0e0f-4abc-8def-000000000001","issuer_id":"2a0b0c0d-0e0f-4abc-8def-000000000001","product":"SOJA",` +
		`"delivery_place_id":"4a0b0c0d-0e0f-4abc-8def-000000000001","haverst":"2025/2026","unit_of_measurement":"SC","order_type":"A_FIXAR","order_date":"2026-03-10",` +
		`"wallet_id":"3a0b0c0d-0e0f-4abc-8def-000000000001","currency":"BRL","payment_type":"DINHEIRO"}`,
	`{"amount":150.5,"producer_id":"1a0b0c0d-0e0f-4abc-8def-000000000001","issuer_id":"2a0b0c0d-0e0f-4abc-8def-000000000001","product":"SOJA",` +
		`"delivery_place_id":"4a0b0c0d-0e0f-4abc-8def-000000000001","haverst":"2025/2026","unit_of_measurement":"SC","order_type":"FIXACAO_DEPOSITO","order_date":"2026-05-05",` +
		`"wallet_id":"3a0b0c0d-0e0f-4abc-8def-000000000001","currency":"BRL","price":129.9,"payday":"2026-08-05","payment_type":"DINHEIRO"}`,
	`{"amount":500,"producer_id":"1a0b0c0d-0e0f-4abc-8def-000000000001","issuer_id":"2a0b0c0d-0e0f-4abc-8def-000000000001","product":"SOJA",` +
		`"delivery_place_id":"4a0b0c0d-0e0f-4abc-8def-000000000002","haverst":"2025/2026","unit_of_measurement":"SC","order_type":"COMPRA","order_date":"2026-03-10",` +
		`"wallet_id":"3a0b0c0d-0e0f-4abc-8def-000000000002","currency":"BRL","price":131.5,"initial_delivery_date":"2026-04-01","end_delivery_date":"2026-06-30",` +
		`"modality":"DISPONIVEL","payday":"2026-07-15","payment_type":"DINHEIRO"}`,
	`{"amount":61.75,"producer_id":"1a0b0c0d-0e0f-4abc-8def-000000000001","issuer_id":"2a0b0c0d-0e0f-4abc-8def-000000000002","product":"SOJA",` +
		`"delivery_place_id":"4a0b0c0d-0e0f-4abc-8def-000000000001","haverst":"2025/2026","unit_of_measurement":"TON","order_type":"COMPRA","order_date":"2026-03-10",` +
		`"wallet_id":"3a0b0c0d-0e0f-4abc-8def-000000000001","currency":"USD","price":402.3333,"initial_delivery_date":"2026-04-01","end_delivery_date":"2026-06-30",` +
		`"modality":"EXPORTACAO","payday":"2026-07-15","payment_type":"DINHEIRO"}`,
	`{"contract_id":"<1|100|1|0>","delivered_volume":38940.5,"delivered_volume_unit_of_measure":"kg","delivery_date":"2026-05-12",` +
		`"car":"PR-4106902-9065C3146E80A9C222670BBE4F4C5497"}`,
	`{"contract_id":"<1|101|1|0>","delivered_volume":17500,"delivered_volume_unit_of_measure":"kg","delivery_date":"2026-05-12"}`,
	`{"contract_id":"<2|100|1|0>","delivered_volume":29000,"delivered_volume_unit_of_measure":"kg","delivery_date":"2026-05-12"}`,
	`<1|100|1|0>{"producer_id":"1a0b0c0d-0e0f-4abc-8def-000000000001","user_id":"2a0b0c0d-0e0f-4abc-8def-000000000002",` +
		`"farm_id":"5a0b0c0d-0e0f-4abc-8def-000000000001","allocated_volume":600.1,"unit_of_measurement":"SC"}`,
	`<1|101|1|1>{"producer_id":"1a0b0c0d-0e0f-4abc-8def-000000000001","user_id":"2a0b0c0d-0e0f-4abc-8def-000000000002","allocated_volume":400,"unit_of_measurement":"SC"}`,
}

// What a person reads has the accents of latin1 tables, and the part of the query that leaves a row out.
func TestWhyShowsTheWordsOfTheERPOnMariaDB(t *testing.T) {
	t.Parallel()
	m := newMaria(t)
	m.sync()
	for row, want := range map[[2]string]string{
		{"contracts", "1|110|1|0"}: `"FEIJÃO"`,
		{"contracts", "1|118|1|0"}: `"BALCÃƒO"`,
		{"contracts", "1|108|1|0"}: "COMPRA requires payday",
		{"contracts", "1|109|1|0"}: "producer without a platform id (de-para): code 3",
		{"contracts", "1|104|1|0"}: "it is not known why, or whether the row is in the ERP",
		{"deliveries", "1|504|1"}:  "contract is required; columns empresa, numero, item, =0 contain no complete code",
		{"deliveries", "1|505|1"}:  "g.fechada = 1",
	} {
		if text := m.run(0, "why", row[0], row[1]); !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("why %s %s does not say %q:\n%s", row[0], row[1], want, text)
		}
	}
}
