package main

import (
	"database/sql"
	"os"
	"slices"
	"strings"
	"testing"

	_ "github.com/lib/pq"
	"golang.org/x/text/encoding/charmap"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/trade"
)

const modernDir = "../../testdata/erp/"

// modernJobs are the jobs of docs/examples/modern.yaml in the order in which they run.
var modernJobs = []string{"contracts", "deliveries", "traceability"}

// modern is the sample ERP in a real PostgreSQL, the sandbox with its world, and
// docs/examples/modern.yaml.
type modern struct {
	*program
	erp *sql.DB
	api *sandbox.Running

	contracts map[string]string // ids on the platform by key, as the platform's records tell them
}

// newModern loads the sample ERP; the ledger is SQLite.
func newModern(t *testing.T) *modern {
	t.Helper()
	dsn := pgtest.Database(t)
	world := must.Get(sandbox.LoadWorld(modernDir + "modern-world.json"))(t)
	m := newSample(t, world, openAdmin(t, "postgres", dsn), dsn, "modern.yaml")
	m.load("modern.sql")
	m.run(0, "state", "new")
	return m
}

// newSample is an ERP in a database that is already there, a platform, and a configuration of
// docs/examples.
func newSample(t *testing.T, world *sandbox.World, db *sql.DB, dsn, config string) *modern {
	t.Helper()
	api := startSandbox(t, sandbox.Options{APIKey: "key-of-the-sample", World: world})
	m := &modern{program: newProgram(t), erp: db, api: api, contracts: map[string]string{}}
	m.file = "../../docs/examples/" + config
	m.env = map[string]string{
		"SAFRASYNC_BASE_URL": api.URL, "SAFRASYNC_API_KEY": "key-of-the-sample", "SAFRASYNC_ERP_DSN": dsn,
		"SAFRASYNC_STATE": m.path("state.db"), "LANG": "en_US.UTF-8",
	}
	return m
}

// load runs a file of the sample in the ERP.
func (m *modern) load(file string) {
	m.t.Helper()
	text := must.Get(os.ReadFile(modernDir + file))(m.t)
	m.exec(string(text))
}

// overnight does what happens in a sample ERP between two runs.
func (m *modern) overnight(sample string) {
	m.t.Helper()
	switch sample {
	case "firebird":
		m.loadStatements("agro-firebird-second-run.sql", charmap.Windows1252)
	case "mariadb":
		m.loadStatements("cereal-mariadb-second-run.sql", nil)
	default:
		m.load(sample + "-second-run.sql")
	}
}

func (m *modern) exec(statement string) {
	m.t.Helper()
	if _, err := m.erp.Exec(statement); err != nil {
		m.t.Fatalf("%v in %s", err, statement)
	}
}

// run executes a command and wants an exit code.
func (m *modern) run(code int, args ...string) string {
	m.t.Helper()
	out, _ := m.program.run(code, args...)
	return out
}

// row is what `rows --json` prints.
type row struct {
	Key        string       `json:"key"`
	State      trade.State  `json:"state"`
	Cause      *string      `json:"cause"`
	RemoteID   *string      `json:"remote_id"`
	Flags      []trade.Flag `json:"flags"`
	Attempts   int          `json:"attempts"`
	Generation int          `json:"generation"`
	Error      *struct {
		Kind   string `json:"kind"`
		Fields []struct{ Field, Rule, Column, Value string }
	} `json:"error"`
}

func (m *modern) rows(job string) map[string]row {
	m.t.Helper()
	out := map[string]row{}
	for _, r := range jsonLines[row](m.t, m.run(0, "rows", job, "--json")) {
		out[r.Key] = r
	}
	return out
}

// summary is what `sync --json` ends with.
type summary struct {
	Runs []struct {
		Job                   string
		Sweep                 bool
		InScope               *int `json:"in_scope"`
		Gone                  *int
		New, Changed, Sent    int
		States                map[trade.State]int
		Stopped               *trade.Stop
		Unchanged, Unreadable int
		WouldSend             *trade.WouldSend `json:"would_send"`
	}
}

func (m *modern) sync(args ...string) summary {
	m.t.Helper()
	return fromJSON[summary](m.t, m.run(0, append([]string{"sync", "--json"}, args...)...))
}

// What the ERP does to a delivery or a share after it was sent is told, and nothing is sent for it.
func TestWhatChangesAfterSendingIsFlaggedOnDeliveriesAndShares(t *testing.T) {
	t.Parallel()
	m := newModern(t)
	m.sync()
	before := len(m.api.CreatedOf())
	for _, change := range []string{
		// moved to another contract that is there
		`UPDATE coop.entrega SET contrato_id = 61, atualizado_em = '2026-11-20 12:00:00-03' WHERE id = 2`,
		// and to one that is not
		`UPDATE coop.entrega SET contrato_id = 39, atualizado_em = '2026-11-20 12:00:00-03' WHERE id = 4`,
		`UPDATE coop.entrega SET volume_liquido = volume_liquido - 10, atualizado_em = '2026-11-20 12:00:00-03' WHERE id = 8`,
		// the same CAR in small letters
		`UPDATE coop.entrega SET car = lower(car), atualizado_em = '2026-11-20 12:00:00-03' WHERE id = 6`,
		// a column that nobody maps
		`UPDATE coop.entrega SET peso_bruto_kg = peso_bruto_kg + 1, atualizado_em = '2026-11-20 12:00:00-03' WHERE id = 3`,
		// opened again: the query has it no more
		`UPDATE coop.entrega SET situacao = 'aberta', atualizado_em = '2026-11-20 12:00:00-03' WHERE id = 16`,
		`UPDATE coop.rastreabilidade SET volume = volume * 2, atualizado_em = '2026-11-20 12:00:00-03' WHERE id = 9`,
		// to a farm without a de-para
		`UPDATE coop.rastreabilidade SET fazenda_id = 13, atualizado_em = '2026-11-20 12:00:00-03' WHERE id = 10`,
		`UPDATE coop.rastreabilidade SET atualizado_em = '2026-11-20 12:00:00-03' WHERE id = 13`,
		`UPDATE coop.rastreabilidade SET excluido_em = '2026-11-20 12:00:00-03', atualizado_em = '2026-11-20 12:00:00-03' WHERE id = 16`,
	} {
		m.exec(change)
	}
	for _, run := range m.sync("--sweep").Runs {
		if run.Stopped != nil {
			t.Errorf("%+v", run)
		}
	}
	for job, wants := range map[string]map[string]string{
		"deliveries": {
			"1|5004|1": "changed", "1|5020|1": "changed", "1|5012|1": "changed", "1|5027|1": "",
			"3|5006|1": "", "1|5017|1": "missing",
		},
		"traceability": {"9": "changed", "10": "changed", "13": "", "16": "missing"},
	} {
		rows := m.rows(job)
		for key, flags := range wants {
			m.expect(rows, key, trade.Accepted, "", flags)
		}
	}
	if n := len(m.api.CreatedOf()) - before; n != 0 {
		t.Errorf("%d records were created for rows that had gone", n)
	}
}

// The JSON that leaves has exact numbers without quotes, exponents or float noise, and no member
// that is absent in the ERP; and why explains every contract, also those that the query leaves out.
func TestTheSampleERPIsSentExactlyAndExplained(t *testing.T) {
	t.Parallel()
	m := newModern(t)
	m.sync()
	want := []string{
		`{"amount":12345678.9,"producer_id":"4105cca7-b533-42fc-954c-d2aad7185dda","issuer_id":"fd741069-6bb6-43de-a515-1c401dd377bf","product":"SOJA",` +
			`"delivery_place_id":"b4ff00ae-3f13-47de-a274-ea181e34b3f1","haverst":"2025/2026","unit_of_measurement":"KG","order_type":"COMPRA","order_date":"2026-04-30",` +
			`"wallet_id":"1b98fbe4-6680-4a11-9ba1-192ec42b7170","currency":"BRL","price":2.1375,"initial_delivery_date":"2026-05-09","end_delivery_date":"2026-08-24",` +
			`"modality":"FUTURO","payday":"2026-06-07","payment_type":"DINHEIRO"}`,
		`{"amount":413640,"producer_id":"4b4d8474-a3ea-484d-bbd0-334684e55160","issuer_id":"623d8eb7-a4ca-43b2-ab52-b08d21870f0b","product":"SOJA",` +
			`"delivery_place_id":"b4ff00ae-3f13-47de-a274-ea181e34b3f1","haverst":"2026/2027","unit_of_measurement":"KG","order_type":"A_FIXAR","order_date":"2026-06-24",` +
			`"wallet_id":"601e5b45-7851-4608-8d65-0372e90794df"}`,
	}
	var bodies []string
	for _, r := range m.api.Created() {
		bodies = append(bodies, string(r.Body))
	}
	for _, body := range want {
		if !slices.Contains(bodies, body) {
			t.Errorf("nobody sent %s", body)
		}
	}
	for key, wants := range map[string][]string{
		"3|CT-1000/26": {"situacao IN ('aprovado', 'cancelado')"},
		"1|CT-1010/26": {"data_contrato"},
		"1|CT-1038/26": {"excluido_em IS NULL"},
		"2|CT-1078/26": {"COMPRA requires payday; column data_pagamento is empty"},
		"3|CT-1064/26": {"wallet", "6"},
		"2|CT-1004/26": {"producer not registered on the platform"},
	} {
		text := m.run(0, "why", "contracts", key)
		for _, want := range wants {
			if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
				t.Errorf("why %s does not say %q:\n%s", key, want, text)
			}
		}
	}
	for row, want := range map[[2]string]string{
		{
			"deliveries",
			"1|5043|1",
		}: "waits for contract 1|CT-1074/26, which was rejected: wallet not found on the platform",
		{
			"deliveries",
			"3|5042|1",
		}: "waits for contract 3|CT-1072/26, which is invalid: currency: missing or wrong in the ERP",
		{
			"deliveries",
			"3|5041|1",
		}: "waits for contract 3|CT-1027/26, which is also waiting: producer without a platform id (de-para)",
		{
			"deliveries",
			"1|5046|1",
		}: "waits for contract 1|CT-1038/26, which is not in the ERP, is cancelled there, or is left out by the query of the contracts",
		{
			"deliveries",
			"1|5062|1",
		}: "contract is required; columns contrato_filial, contrato_numero contain no complete code",
		{"deliveries", "2|5054|1"}: `CAR is not a CAR number (UF-NNNNNNN-32 hex); column car has "MT123456/2018"`,
		{"deliveries", "2|5066|1"}: "e.situacao = 'fechada'",
		{"traceability", "6"}:      "allocated volume requires unit of measurement; column unidade is empty",
		{"traceability", "34"}:     "farm without a platform id (de-para): code 13",
		{
			"traceability",
			"22",
		}: "waits for contract 1|CT-1029/26, which is also waiting: producer without a platform id (de-para)",
		{"traceability", "13"}: "a row that was sent is never sent again",
	} {
		if text := m.run(0, "why", row[0], row[1]); !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("why %s %s does not say %q:\n%s", row[0], row[1], want, text)
		}
	}
	if text := m.run(0, "why", "contracts", "1|CT-1003/26", "--request"); !strings.Contains(text, "12345678.9") ||
		!strings.Contains(text, "preco_unitario") {
		t.Errorf("why --request:\n%s", text)
	}
	if text := m.run(0, "status"); !strings.Contains(text, "contracts") {
		t.Errorf("status:\n%s", text)
	}
}
