package erp_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/erp/erptest"
	"github.com/safrasync/safrasync/internal/must"
)

const catalogueSchema = `
CREATE TABLE contrato (filial VARCHAR(2) NOT NULL, num VARCHAR(6) NOT NULL, "Preço" NUMERIC(18, 4), emissao DATE,
  tipo INTEGER NOT NULL PRIMARY KEY);
CREATE UNIQUE INDEX contrato_numero ON contrato (num, filial);
CREATE INDEX contrato_emissao ON contrato (emissao);
CREATE INDEX contrato_parcial ON contrato (emissao) WHERE tipo > 1;
CREATE INDEX contrato_expr ON contrato (lower(num));
CREATE TABLE item (b INTEGER NOT NULL, a INTEGER NOT NULL, PRIMARY KEY (a, b));
INSERT INTO contrato (filial, num, tipo) VALUES ('01', '1', 1), ('01', '2', 2), ('01', '3', 3);
CREATE VIEW abertos AS SELECT num, "Preço" FROM contrato;`

func TestTheCatalogueListsTablesViewsColumnsAndKeys(t *testing.T) {
	t.Parallel()
	want := []erp.Relation{
		{
			Name: "abertos", View: true, Rows: -1,
			Columns: []erp.RelationColumn{{"num", "varchar(6)", true}, {"Preço", "numeric(18, 4)", true}},
		},
		{
			Name: "contrato", Rows: 3, Primary: []string{"tipo"}, Unique: [][]string{{"num", "filial"}},
			Indexes: [][]string{{"emissao"}},
			Columns: []erp.RelationColumn{
				{"filial", "varchar(2)", false},
				{"num", "varchar(6)", false},
				{"Preço", "numeric(18, 4)", true},
				{"emissao", "date", true},
				{"tipo", "integer", false},
			},
		},
		{
			Name: "item", Primary: []string{"a", "b"},
			Columns: []erp.RelationColumn{{"b", "integer", false}, {"a", "integer", false}},
		},
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		s, _ := erptest.SQLite(t, catalogueSchema)
		got := must.Get(s.Catalogue(t.Context()))(t)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("catalogue (-want +got):\n%s", diff)
		}
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		s, _ := postgres(t, catalogueSchema, "ANALYZE", "CREATE TABLE nunca (a int)")
		got := must.Get(s.Catalogue(t.Context()))(t)
		want := append([]erp.Relation(nil), want...)
		for i := range want {
			want[i].Schema = "public"
		}
		want[0].Columns = []erp.RelationColumn{{"num", "character varying(6)", true}, {"Preço", "numeric(18,4)", true}}
		want[1].Columns = []erp.RelationColumn{
			{"filial", "character varying(2)", false},
			{"num", "character varying(6)", false},
			{"Preço", "numeric(18,4)", true},
			{"emissao", "date", true},
			{"tipo", "integer", false},
		}
		want = append(want, erp.Relation{
			Schema: "public", Name: "nunca", Rows: -1,
			Columns: []erp.RelationColumn{{"a", "integer", true}},
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("catalogue (-want +got):\n%s", diff)
		}
	})
}

func TestNamesAreQuotedWhereTheDatabaseNeedsIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ driver, name, want string }{
		{"postgres", "contrato", "contrato"},
		{"postgres", "Contrato", `"Contrato"`},
		{"postgres", "order", `"order"`},
		{"sqlite", "Contrato", "Contrato"},
		{"sqlite", `a"b`, `"a""b"`},
		{"firebird", "CONTRATO", "CONTRATO"},
		{"firebird", "contrato", `"contrato"`},
		{"oracle", "NJR010", "NJR010"},
		{"mysql", "cod-estabel", "`cod-estabel`"},
		{"sqlserver", "User", "[User]"},
		{"sqlserver", "NJR_FILIAL", "NJR_FILIAL"},
		{"sqlserver", "a]b", "[a]]b]"},
	} {
		if got := erp.QuoteName(c.driver, c.name); got != c.want {
			t.Errorf("QuoteName(%s, %s) = %s, want %s", c.driver, c.name, got, c.want)
		}
	}
	// No server is there to refuse these: Microsoft's list of reserved keywords, and Oracle's of reserved words.
	for driver, words := range map[string]string{
		"sqlserver": "percent plan file public rule external database option read open close backup browse bulk disk identity key load " +
			"national precision print proc restore save schema statistics top tran user within nolock",
		"oracle": "ACCESS AUDIT CLUSTER COMMENT COMPRESS FILE INITIAL LEVEL LOCK MODE NUMBER OFFLINE ONLINE OPTION PRIOR PUBLIC RAW RESOURCE " +
			"ROW ROWNUM SESSION SHARE SIZE START SYNONYM SYSDATE UID VALIDATE NEXTVAL",
	} {
		for _, word := range strings.Fields(words) {
			query := "SELECT " + erp.QuoteName(driver, word) + " FROM c"
			if query == "SELECT "+word+" FROM c" {
				t.Errorf("%s: %s stands without quotes", driver, word)
			}
			if err := erp.CheckQuery(driver, query); err != nil {
				t.Errorf("%s: %v", driver, err)
			}
		}
	}
}
