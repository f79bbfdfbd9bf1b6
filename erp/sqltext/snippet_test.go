package sqltext_test

import (
	"testing"

	"github.com/safrasync/safrasync/erp/dialect/postgres"
	"github.com/safrasync/safrasync/erp/dialect/sqlserver"
	"github.com/safrasync/safrasync/erp/sqltext"
)

// A query gets the snippets that it names, and those that they name, before its own WITH; its lines
// keep their numbers, and a column or an alias of that name is no use.
func TestAQueryGetsTheSnippetsThatItNames(t *testing.T) {
	t.Parallel()
	snippets := []sqltext.Snippet{
		{Name: "base", SQL: "SELECT k -- todas\nFROM t;"},
		{Name: "industria", SQL: "SELECT k FROM Base WHERE i = 'S'"},
		{Name: "outra", SQL: "SELECT 1 AS k"},
	}
	for sql, want := range map[string]string{
		"SELECT outra, x.industria FROM t outra": "SELECT outra, x.industria FROM t outra",
		"-- c\nSELECT * FROM outra": "-- c\n" +
			"WITH outra AS (SELECT 1 AS k) SELECT * FROM outra",
		"SELECT *\nFROM t WHERE NOT EXISTS (SELECT 1 FROM INDUSTRIA i WHERE i.k = t.k)": "WITH base AS (SELECT k FROM t), " +
			"industria AS (SELECT k FROM Base WHERE i = 'S') " +
			"SELECT *\nFROM t WHERE NOT EXISTS (SELECT 1 FROM INDUSTRIA i WHERE i.k = t.k)",
		"WITH a AS (SELECT * FROM outra)\nSELECT * FROM a": "WITH outra AS (SELECT 1 AS k), a AS (SELECT * FROM outra)\n" +
			"SELECT * FROM a",
		"WITH RECURSIVE a AS (SELECT * FROM t, outra) SELECT * FROM a": "WITH RECURSIVE outra AS (SELECT 1 AS k), " +
			"a AS (SELECT * FROM t, outra) SELECT * FROM a",
		"SELECT ' FROM outra": "SELECT ' FROM outra",
	} {
		if got := sqltext.Prepend(sql, snippets, postgres.Syntax); got != want {
			t.Errorf("%s:\n got %s\nwant %s", sql, got, want)
		}
	}
	sql := sqltext.Prepend("SELECT k FROM outra", snippets, sqlserver.Syntax)
	st, bad := sqltext.Parse(sql, sqlserver.Syntax)
	if bad != nil || st.Front() != "WITH outra AS (SELECT 1 AS k) \n" {
		t.Errorf("before the parentheses stands %q, %v", st.Front(), bad)
	}
}
