package main

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/pgtest"
)

// sampleID is an id on the platform in the sample ERPs other than the modern one: kind 1 producers,
// 2 users, 3 wallets, 4 delivery places, 5 farms.
func sampleID(kind, n string) string {
	return kind + "a0b0c0d-0e0f-4abc-8def-" + strings.Repeat("0", 12-len(n)) + n
}

// newLegacy is a sample ERP other than the modern one: the platform knows everybody but one place and
// one link. The ledger is SQLite, or PostgreSQL when a DSN is given.
func newLegacy(t *testing.T, db *sql.DB, dsn, config, ledger string) *modern {
	t.Helper()
	world := sandbox.OpenWorld()
	world.Forget(sandbox.DeliveryPlaces, sampleID("4", "9"))
	world.UnlinkWallet(sampleID("3", "3"), sampleID("1", "2"))
	m := newSample(t, world, db, dsn, config)
	if ledger != "" {
		m.env["SAFRASYNC_STATE"] = ledger
		m.configure(m.file, "state:\n  driver: sqlite", "state:\n  driver: postgres\n  journal: "+m.path("journal"))
	}
	m.run(0, "state", "new")
	return m
}

func newProtheus(t *testing.T, dsn, ledger string) *modern {
	t.Helper()
	m := newLegacy(t, openAdmin(t, "postgres", dsn), dsn, "protheus.yaml", ledger)
	m.load("protheus.sql")
	return m
}

// protheusBodies are requests of the first run, to the last byte.
var protheusBodies = []string{
	`{"amount":1234.567,"producer_id":"1a0b0c0d-0e0f-4abc-8def-000000000001","issuer_id":"2a0b0c0d-0e0f-4abc-8def-000000000001","product":"SOJA",` +
		`"delivery_place_id":"4a0b0c0d-0e0f-4abc-8def-000000000001","haverst":"2025/2026","unit_of_measurement":"SC","order_type":"COMPRA","order_date":"2026-03-10",` +
		`"wallet_id":"3a0b0c0d-0e0f-4abc-8def-000000000001","currency":"BRL","price":131.5,"initial_delivery_date":"2026-04-01","end_delivery_date":"2026-06-30",` +
		`"modality":"DISPONIVEL","payday":"2026-07-15","payment_type":"DINHEIRO"}`,
	`{"amount":2000,"producer_id":"1a0b0c0d-0e0f-4abc-8def-000000000001","issuer_id":"2a0b0c0d-0e0f-4abc-8def-000000000001","product":"SOJA",` +
		`"delivery_place_id":"4a0b0c0d-0e0f-4abc-8def-000000000001","haverst":"2025/2026","unit_of_measurement":"SC","order_type":"A_FIXAR","order_date":"2026-03-10",` +
		`"wallet_id":"3a0b0c0d-0e0f-4abc-8def-000000000001","currency":"BRL"}`,
	`{"amount":400,"producer_id":"1a0b0c0d-0e0f-4abc-8def-000000000001","issuer_id":"2a0b0c0d-0e0f-4abc-8def-000000000001","product":"SOJA",` +
		`"delivery_place_id":"4a0b0c0d-0e0f-4abc-8def-000000000001","haverst":"2025/2026","unit_of_measurement":"SC","order_type":"FIXACAO_COMPRA","order_date":"2026-05-05",` +
		`"wallet_id":"3a0b0c0d-0e0f-4abc-8def-000000000001","currency":"BRL","price":132.1,"payday":"2026-08-05"}`,
	`{"amount":150.5,"producer_id":"1a0b0c0d-0e0f-4abc-8def-000000000001","issuer_id":"2a0b0c0d-0e0f-4abc-8def-000000000001","product":"SOJA",` +
		`"delivery_place_id":"4a0b0c0d-0e0f-4abc-8def-000000000001","haverst":"2025/2026","unit_of_measurement":"SC","order_type":"FIXACAO_DEPOSITO","order_date":"2026-05-05",` +
		`"wallet_id":"3a0b0c0d-0e0f-4abc-8def-000000000001","currency":"BRL","price":129.9}`,
	`{"amount":60990.5,"producer_id":"1a0b0c0d-0e0f-4abc-8def-000000000001","issuer_id":"2a0b0c0d-0e0f-4abc-8def-000000000001","product":"TRIGO",` +
		`"delivery_place_id":"4a0b0c0d-0e0f-4abc-8def-000000000001","haverst":"2026/2026","unit_of_measurement":"KG","order_type":"COMPRA","order_date":"2026-03-10",` +
		`"wallet_id":"3a0b0c0d-0e0f-4abc-8def-000000000001","currency":"BRL","price":1.2,"initial_delivery_date":"2026-04-01","end_delivery_date":"2026-06-30",` +
		`"modality":"DISPONIVEL","payday":"2026-07-15","payment_type":"DINHEIRO"}`,
	`{"amount":1019,"producer_id":"1a0b0c0d-0e0f-4abc-8def-000000000004","issuer_id":"2a0b0c0d-0e0f-4abc-8def-000000000001","product":"SOJA",` +
		`"delivery_place_id":"4a0b0c0d-0e0f-4abc-8def-000000000001","haverst":"2025/2026","unit_of_measurement":"SC","order_type":"COMPRA","order_date":"2026-03-10",` +
		`"wallet_id":"3a0b0c0d-0e0f-4abc-8def-000000000001","currency":"BRL","price":131.5,"initial_delivery_date":"2026-04-01","end_delivery_date":"2026-06-30",` +
		`"modality":"DISPONIVEL","payday":"2026-07-15","payment_type":"DINHEIRO"}`,
	`{"amount":1020,"producer_id":"1a0b0c0d-0e0f-4abc-8def-000000000005","issuer_id":"2a0b0c0d-0e0f-4abc-8def-000000000001","product":"SOJA",` +
		`"delivery_place_id":"4a0b0c0d-0e0f-4abc-8def-000000000001","haverst":"2025/2026","unit_of_measurement":"SC","order_type":"COMPRA","order_date":"2026-03-10",` +
		`"wallet_id":"3a0b0c0d-0e0f-4abc-8def-000000000001","currency":"BRL","price":131.5,"initial_delivery_date":"2026-04-01","end_delivery_date":"2026-06-30",` +
		`"modality":"DISPONIVEL","payday":"2026-07-15","payment_type":"DINHEIRO"}`,
	`{"amount":500,"producer_id":"1a0b0c0d-0e0f-4abc-8def-000000000001","issuer_id":"2a0b0c0d-0e0f-4abc-8def-000000000002","product":"SOJA",` +
		`"delivery_place_id":"4a0b0c0d-0e0f-4abc-8def-000000000002","haverst":"2025/2026","unit_of_measurement":"SC","order_type":"COMPRA","order_date":"2026-03-10",` +
		`"wallet_id":"3a0b0c0d-0e0f-4abc-8def-000000000002","currency":"USD","price":24.1,"initial_delivery_date":"2026-04-01","end_delivery_date":"2026-06-30",` +
		`"modality":"EXPORTACAO","payday":"2026-07-15","payment_type":"DINHEIRO"}`,
	`{"contract_id":"<0101|000101|>","delivered_volume":38527.8,"delivered_volume_unit_of_measure":"kg","delivery_date":"2026-05-12",` +
		`"car":"PR-4106902-9065C3146E80A9C222670BBE4F4C5497"}`,
	`{"contract_id":"<0101|000102|>","delivered_volume":17500,"delivered_volume_unit_of_measure":"kg","delivery_date":"2026-05-12"}`,
	`{"contract_id":"<0101|000128|>","delivered_volume":31.25,"delivered_volume_unit_of_measure":"ton","delivery_date":"2026-05-12"}`,
	`{"contract_id":"<0102|000101|>","delivered_volume":29000,"delivered_volume_unit_of_measure":"kg","delivery_date":"2026-05-12"}`,
	`<0101|000101|>{"producer_id":"1a0b0c0d-0e0f-4abc-8def-000000000001","user_id":"2a0b0c0d-0e0f-4abc-8def-000000000002",` +
		`"farm_id":"5a0b0c0d-0e0f-4abc-8def-000000000001","allocated_volume":600.1,"unit_of_measurement":"SC"}`,
	`<0101|000101|>{"producer_id":"1a0b0c0d-0e0f-4abc-8def-000000000002","user_id":"2a0b0c0d-0e0f-4abc-8def-000000000002"}`,
	`<0101|000102|001>{"producer_id":"1a0b0c0d-0e0f-4abc-8def-000000000003","user_id":"2a0b0c0d-0e0f-4abc-8def-000000000002","allocated_volume":400,"unit_of_measurement":"SC"}`,
}

// namedBodies are the requests that the platform has got. <KEY> stands for the id of a contract, and
// before a body for the one in its path.
func (m *modern) namedBodies() (got []string) {
	m.t.Helper()
	var known []string
	for key, r := range m.rows("contracts") {
		if r.RemoteID != nil {
			known = append(known, *r.RemoteID, "<"+key+">")
		}
	}
	keys := strings.NewReplacer(known...)
	for _, r := range m.api.CreatedOf() {
		got = append(got, keys.Replace(r.Params["order_commitment_id"]+string(r.Body)))
	}
	return got
}

// why says which part of a plain query leaves a row out, that it cannot say so below a UNION, and what
// is wrong with a row that does not go.
func TestWhyExplainsTheProtheusLikeERP(t *testing.T) {
	t.Parallel()
	m := newProtheus(t, pgtest.Database(t), "")
	m.sync()
	const notTold = "For a query of this kind it is not known why"
	for row, want := range map[[2]string]string{
		{
			"contracts",
			"0101|000111|",
		}: `order date is not a date in the form YYYYMMDD; column data has "20260231"`,
		{"contracts", "0101|000113|"}:    "COMPRA requires payday; column vencimento is empty",
		{"contracts", "0101|000118|"}:    "producer without a platform id (de-para): code 000031|01",
		{"contracts", "0101|000107|"}:    notTold,
		{"contracts", "0101|000107|001"}: notTold,
		{"contracts", "0101|000124|"}:    notTold,
		{"contracts", "0101|000125|"}:    notTold,
		{"contracts", "0101|000122|"}:    "wallet",
		{
			"deliveries",
			"0101|0000000205|01",
		}: "contract is required; columns filial, contrato, fixacao contain no complete code",
		{"deliveries", "0101|0000000203|01"}: "waits for contract 0101|000114|, which is invalid",
		{"deliveries", "0101|0000000207|01"}: "h.njj_status IN ('3', '4')",
		{
			"deliveries",
			"0101|0000000217|01",
		}: "waits for contract 0101|000124|, which is not in the ERP, is cancelled there, or is left out by the query of the contracts",
		{"traceability", "0101|000101||005"}: "d_e_l_e_t_ = ' '",
		{"traceability", "0101|000101||003"}: "farm without a platform id (de-para): code 000003",
	} {
		if text := m.run(0, "why", row[0], row[1]); !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("why %s %s does not say %q:\n%s", row[0], row[1], want, text)
		}
	}
}

// An ERP that was moved to PostgreSQL as SQL_ASCII holds bytes of WIN1252. Every row has the
// outcome that it has in a database with a charset, and a byte that is no character spoils the
// value in which it stands, and no other row.
func TestF031TheProtheusLikeERPHasTheSameOutcomeInSQLASCII(t *testing.T) {
	t.Parallel()
	same := newProtheus(t, pgtest.Database(t), "")
	m := newProtheus(t, pgtest.DatabaseWith(t, "ENCODING 'SQL_ASCII' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'"), "")
	for _, change := range []string{
		`UPDATE protheus.nj0010 SET nj0_nome = convert_from(convert(convert_to(trim(nj0_nome), 'SQL_ASCII'), 'UTF8', 'WIN1252'), 'SQL_ASCII')`,
		`UPDATE protheus.njr010 SET njr_codsaf = E'2526\xC3' WHERE njr_codctr = '000117'`,
		`UPDATE protheus.njr010 SET njr_codsaf = E'2526\x81' WHERE njr_codctr = '000116'`,
	} {
		m.exec(change)
	}
	for _, night := range []string{"", "protheus-second-run.sql"} {
		for _, each := range []*modern{same, m} {
			if night != "" {
				each.load(night)
			}
			each.sync("--sweep")
		}
		for _, job := range modernJobs {
			want, got := outcomesOf(same.rows(job)), outcomesOf(m.rows(job))
			for _, key := range []string{"0101|000116|", "0101|000117|"} {
				delete(want, key)
				delete(got, key)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s %s (-UTF8 +SQL_ASCII):\n%s", job, night, diff)
			}
		}
	}
	rows := m.rows("contracts")
	for key, want := range map[string]string{"0101|000116|": "haverst unreadable", "0101|000117|": "haverst unmapped"} {
		if got := problemsOf(rows[key]); got != want {
			t.Errorf("%s: problems %q, want %q", key, got, want)
		}
	}
	if rows["0101|000117|"].Error.Fields[0].Value != "2526Ã" {
		t.Errorf("%+v", rows["0101|000117|"].Error)
	}
}
