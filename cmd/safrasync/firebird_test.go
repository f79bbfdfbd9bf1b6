package main

import (
	"net/url"
	"os"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"

	"github.com/safrasync/safrasync/internal/fbtest"
	"github.com/safrasync/safrasync/internal/must"
)

// loadStatements runs a script of a sample one statement after the other, in another charset if one is
// given: that of Firebird is sent as the programs of its time would, the bytes of WIN1252 to a database
// that knows no charset.
func (m *modern) loadStatements(file string, as *charmap.Charmap) {
	m.t.Helper()
	raw := must.Get(os.ReadFile(modernDir + file))(m.t)
	if as != nil {
		raw = must.Get(as.NewEncoder().Bytes(raw))(m.t)
	}
	var code strings.Builder
	for line := range strings.Lines(string(raw)) {
		if !strings.HasPrefix(line, "--") {
			code.WriteString(line)
		}
	}
	for _, statement := range strings.Split(code.String(), ";\n") {
		if statement = strings.TrimSpace(statement); statement == "" || statement == "COMMIT" {
			continue
		}
		m.exec(statement)
	}
}

func newFirebird(t *testing.T) *modern {
	t.Helper()
	server, path := fbtest.Database(t, "NONE")
	u := url.URL{
		Scheme: "firebird", User: url.UserPassword("SYSDBA", fbtest.Password), Host: server.Address(),
		Path: path,
	}
	m := newLegacy(t, openAdmin(t, "firebirdsql", server.AdminDSN(path, "NONE")), u.String(), "firebird.yaml", "")
	m.loadStatements("agro-firebird.sql", charmap.Windows1252)
	return m
}

// firebirdBodies are requests of the first run, to the last byte; namedBodies explains <KEY>.
var firebirdBodies = []string{
	`{"amount":1234.56,"producer_id":"1a0b0c0d-0e0f-4abc-8def-000000000001","issuer_id":"2a0b0c0d-0e0f-4abc-8def-000000000001","product":"SOJA",` +
		`"delivery_place_id":"4a0b0c0d-0e0f-4abc-8def-000000000001","haverst":"2025/2026","unit_of_measurement":"SC","order_type":"COMPRA","order_date":"2026-03-10",` +
		`"wallet_id":"3a0b0c0d-0e0f-4abc-8def-000000000001","currency":"BRL","price":131.5,"initial_delivery_date":"2026-04-01","end_delivery_date":"2026-06-30",` +
		`"modality":"BALCAO","payday":"2026-07-10","payment_type":"DINHEIRO"}`,
	`{"amount":2000,"producer_id":"1a0b0c0d-0e0f-4abc-8def-000000000001","issuer_id":"2a0b0c0d-0e0f-4abc-8def-000000000001","product":"SOJA",` +
		`"delivery_place_id":"4a0b0c0d-0e0f-4abc-8def-000000000001","haverst":"2025/2026","unit_of_measurement":"SC","order_type":"A_FIXAR","order_date":"2026-03-10",` +
		`"wallet_id":"3a0b0c0d-0e0f-4abc-8def-000000000001","currency":"BRL","payment_type":"DINHEIRO"}`,
	`{"amount":400,"producer_id":"1a0b0c0d-0e0f-4abc-8def-000000000001","issuer_id":"2a0b0c0d-0e0f-4abc-8def-000000000001","product":"SOJA",` +
		`"delivery_place_id":"4a0b0c0d-0e0f-4abc-8def-000000000001","haverst":"2025/2026","unit_of_measurement":"SC","order_type":"FIXACAO_COMPRA","order_date":"2026-03-10",` +
		`"wallet_id":"3a0b0c0d-0e0f-4abc-8def-000000000001","currency":"BRL","price":132.1,"modality":"DISPONIVEL","payday":"2026-08-05","payment_type":"DINHEIRO"}`,
	`{"amount":61.75,"producer_id":"1a0b0c0d-0e0f-4abc-8def-000000000001","issuer_id":"2a0b0c0d-0e0f-4abc-8def-000000000002","product":"SOJA",` +
		`"delivery_place_id":"4a0b0c0d-0e0f-4abc-8def-000000000001","haverst":"2025/2026","unit_of_measurement":"TON","order_type":"COMPRA","order_date":"2026-03-10",` +
		`"wallet_id":"3a0b0c0d-0e0f-4abc-8def-000000000001","currency":"USD","price":402.3333,"initial_delivery_date":"2026-04-01","end_delivery_date":"2026-06-30",` +
		`"modality":"EXPORTACAO","payday":"2026-07-15","payment_type":"DINHEIRO"}`,
	`{"amount":60990.5,"producer_id":"1a0b0c0d-0e0f-4abc-8def-000000000001","issuer_id":"2a0b0c0d-0e0f-4abc-8def-000000000001","product":"TRIGO",` +
		`"delivery_place_id":"4a0b0c0d-0e0f-4abc-8def-000000000001","haverst":"2026/2026","unit_of_measurement":"KG","order_type":"COMPRA","order_date":"2026-03-10",` +
		`"wallet_id":"3a0b0c0d-0e0f-4abc-8def-000000000001","currency":"BRL","price":1.2,"initial_delivery_date":"2026-04-01","end_delivery_date":"2026-06-30",` +
		`"modality":"DISPONIVEL","payday":"2026-07-15","payment_type":"TROCA"}`,
	`{"amount":1234,"producer_id":"1a0b0c0d-0e0f-4abc-8def-000000000001","issuer_id":"2a0b0c0d-0e0f-4abc-8def-000000000001","product":"SOJA",` +
		`"delivery_place_id":"4a0b0c0d-0e0f-4abc-8def-000000000001","haverst":"2025/2026","unit_of_measurement":"SC","order_type":"COMPRA","order_date":"2026-03-10",` +
		`"wallet_id":"3a0b0c0d-0e0f-4abc-8def-000000000001","currency":"BRL","price":131.5,"initial_delivery_date":"2026-04-01","end_delivery_date":"2026-06-30",` +
		`"modality":"DISPONIVEL","payday":"2026-07-15","payment_type":"DINHEIRO"}`,
	`{"contract_id":"<1|1001>","delivered_volume":38940.5,"delivered_volume_unit_of_measure":"kg","delivery_date":"2026-05-12",` +
		`"car":"PR-4106902-9065C3146E80A9C222670BBE4F4C5497"}`,
	`{"contract_id":"<1|1002>","delivered_volume":17500,"delivered_volume_unit_of_measure":"kg","delivery_date":"2026-05-12"}`,
	`{"contract_id":"<1|1001>","delivered_volume":30500,"delivered_volume_unit_of_measure":"kg","delivery_date":"2026-05-12",` +
		`"car":"PR-4113700-656CF2D133187C8DF95247F2866028DE"}`,
	`{"contract_id":"<1|1003>","delivered_volume":649.01,"delivered_volume_unit_of_measure":"sc","delivery_date":"2026-05-12"}`,
	`{"contract_id":"<2|1001>","delivered_volume":29000,"delivered_volume_unit_of_measure":"kg","delivery_date":"2026-05-12"}`,
	`<1|1001>{"producer_id":"1a0b0c0d-0e0f-4abc-8def-000000000001","user_id":"2a0b0c0d-0e0f-4abc-8def-000000000002",` +
		`"farm_id":"5a0b0c0d-0e0f-4abc-8def-000000000001","allocated_volume":600.1,"unit_of_measurement":"SC"}`,
	`<1|1001>{"producer_id":"1a0b0c0d-0e0f-4abc-8def-000000000002","user_id":"2a0b0c0d-0e0f-4abc-8def-000000000002"}`,
}

// What a person reads has the accents of the ERP, whatever the database thinks of its bytes.
func TestWhyShowsTheWordsOfTheDelphiLikeERP(t *testing.T) {
	t.Parallel()
	m := newFirebird(t)
	m.sync()
	for row, want := range map[[2]string]string{
		{"contracts", "1|1018"}:   `"FEIJÃO"`,
		{"contracts", "1|1010"}:   `"1234.56"`,
		{"contracts", "1|1014"}:   `is not a date in the form DD/MM/YYYY; column ENTREGA_INI has "01/04/26"`,
		{"contracts", "1|1015"}:   "producer without a platform id (de-para): code 3",
		{"contracts", "1|1024"}:   "byte not defined in WIN1252 at 7",
		{"contracts", "1|1005"}:   "c.TIPO <> 5",
		{"deliveries", "1|504|1"}: "contract is required; columns EMPRESA, CONTRATO contain no complete code",
		{"deliveries", "1|505|1"}: "t.FECHADO = 'S'",
	} {
		if text := m.run(0, "why", row[0], row[1]); !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("why %s %s does not say %q:\n%s", row[0], row[1], want, text)
		}
	}
}
