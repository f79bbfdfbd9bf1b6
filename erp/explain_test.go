package erp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/erp/erptest"
	"github.com/safrasync/safrasync/internal/must"
)

func TestExplainFindsKeysOfEveryType(t *testing.T) {
	t.Parallel()
	s, _ := postgres(t, `CREATE TABLE c (i int, d date, u uuid, n numeric(9,2), x text)`,
		`INSERT INTO c VALUES (7, '2026-01-02', 'db5b5fab-8f4d-4e27-9da1-494c73cf256d', 12.00, 'fora')`)
	for col, key := range map[string]string{
		"i": "7", "d": "2026-01-02", "u": "db5b5fab-8f4d-4e27-9da1-494c73cf256d",
		"n": "12",
	} {
		x, err := s.Explain(t.Context(), erp.Query{SQL: "SELECT * FROM c WHERE x = 'dentro'", Key: []string{col}},
			[]string{key})
		if got, want := erptest.ShowExclusion(x), "exists: x = 'dentro'"; err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", col, got, err, want)
		}
		x, err = s.Explain(t.Context(), erp.Query{SQL: "SELECT * FROM c WHERE x = 'dentro'", Key: []string{col}},
			[]string{"não é"})
		want := "unknown"
		if col == "i" || col == "n" { // no number is this text
			want = "missing"
		}
		if got := erptest.ShowExclusion(x); err != nil || got != want {
			t.Errorf("%s with an impossible key: %s, %v; want %s", col, got, err, want)
		}
	}
	_, err := s.Explain(t.Context(), erp.Query{SQL: "SELECT * FROM c", Key: []string{"i"}}, []string{"1", "2"})
	erptest.WantError(t, err, erp.CodeOther, "parts")
}

func TestTheSampleERPIsReadAndExplained(t *testing.T) {
	t.Parallel()
	s, db := postgres(t, testdata(t, "modern.sql"))
	q := erp.Query{
		Job: "contracts", Key: []string{"filial_id", "numero"}, ChangedAt: "atualizado_em",
		SQL: `SELECT c.*, p.nome, p.documento FROM coop.contrato c JOIN coop.produtor p ON p.id = c.produtor_id
			WHERE c.excluido_em IS NULL AND c.situacao = 'aprovado'
			AND (c.data_contrato >= '2026-01-01' OR c.data_contrato IS NULL) -- o resto já foi
			ORDER BY c.id;`,
	}
	must.Get(s.Columns(t.Context(), q.SQL))(t)
	var inScope int
	must.Do(t, db.QueryRow(
		`SELECT count(*) FROM coop.contrato c WHERE c.excluido_em IS NULL AND c.situacao = 'aprovado' AND (c.data_contrato >= '2026-01-01' OR c.data_contrato IS NULL)`).Scan(&inScope))
	rows, first := erptest.Read(t, s, q, erp.Window{})
	if len(rows) != inScope || first.Degraded || first.Unreadable != 0 || first.Bound == "" {
		t.Fatalf("%+v, want %d clean rows", first, inScope)
	}
	byID := map[string]erp.Row{}
	for _, r := range rows {
		byID[erptest.Text(r, "id")] = r
	}
	if got := fmt.Sprint(erptest.Text(byID["4"], "quantidade"), erptest.Text(byID["4"], "preco_unitario"),
		erptest.Text(byID["4"], "data_contrato"), erptest.Text(byID["9"], "atualizado_em")); got !=
		"12345678.90002.1375002026-04-302026-06-23T10:09:00-03:00" {
		t.Errorf("contract 4 and 9: %s", got)
	}
	x, err := s.Explain(t.Context(), q, []string{"3", "CT-1000/26"}) // a draft
	if got, want := erptest.ShowExclusion(x), "exists: c.situacao = 'aprovado'"; err != nil || got != want {
		t.Errorf("why: %s, %v; want %s", got, err, want)
	}

	erptest.Exec(t, db, testdata(t, "modern-second-run.sql"))
	window, _ := erptest.Read(t, s, q, erp.Window{Since: first.Bound})
	var changed []string
	for _, r := range window {
		changed = append(changed, erptest.Text(r, "id"))
	}
	all, _ := erptest.Read(t, s, q, erp.Window{})
	late := false
	for _, r := range all {
		late = late || erptest.Text(r, "numero") == "CT-LATE/26"
	}
	if !late {
		t.Error("the sweep does not have the row that committed late with an old timestamp")
	}
	for _, id := range []string{"9", "26", "79", "1"} {
		if !strings.Contains(" "+strings.Join(changed, " ")+" ", " "+id+" ") {
			t.Errorf("the window lacks contract %s: %v", id, changed)
		}
	}
}
