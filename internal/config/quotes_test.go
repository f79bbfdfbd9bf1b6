package config

import (
	"strconv"
	"strings"
	"testing"
)

// A quote that is not closed is shown where it begins, not where the next one of the file makes
// nonsense of it, and a query in its own line of the file: without the ERP.
func TestAnUnclosedQuoteIsShownWhereItBegins(t *testing.T) {
	t.Parallel()
	const query = "SELECT num, \"grão\"\n      FROM contrato c\n      WHERE c.emissao >= '2026-01-01'\n        AND (c.tipo = 'COMPRA' OR c.tipo = 'A_FIXAR')\n        AND c.filial = '01'"
	base := strings.Replace(goodConfig, "query: SELECT * FROM c", "query: |\n      "+query, 1)
	if base == goodConfig {
		t.Fatal("goodConfig has another query")
	}
	if _, problem := loadText(t, base); problem != "" {
		t.Fatal(problem)
	}
	at := func(text, part string) int {
		before, _, found := strings.Cut(text, part)
		if !found {
			t.Fatalf("%q is not there", part)
		}
		return 1 + strings.Count(before, "\n")
	}
	for _, c := range []struct{ old, edit, part, want string }{
		{"driver: postgres", `driver: "postgres`, `"postgres`, "the quote that begins here has no end in its line"},
		{"driver: postgres", `driver: 'postgres`, `'postgres`, "the quote that begins here has no end in its line"},
		{
			"'2026-01-01'", "'2026-01-01", "'2026-01-01",
			"jobs.contracts.query: the query cannot be read: a string does not end in its line, and the quotes after it do not pair",
		},
		{"'01'", "'01", "'01", "jobs.contracts.query: the query cannot be read: a string does not end"},
		{`"grão"`, `"grão`, `"grão`, "jobs.contracts.query: the query cannot be read: a quoted name does not end"},
		{
			"'A_FIXAR')", "'A_FIXAR'", "AND (c.tipo",
			"jobs.contracts.query: the query cannot be read: a parenthesis is not closed",
		},
		{
			"FROM contrato c", "FROM contrato c /* o resto", "/* o resto",
			"jobs.contracts.query: the query cannot be read: a comment does not end",
		},
		{query, "DELETE FROM contrato", "query: |", `jobs.contracts.query: the query begins with "DELETE"`},
	} {
		text := strings.Replace(base, c.old, c.edit, 1)
		_, problem := loadText(t, text)
		place, _, _ := strings.Cut(strings.TrimPrefix(problem, "config.yaml:"), ":")
		if line := at(text, c.part); place != strconv.Itoa(line) || !strings.Contains(problem, c.want) {
			t.Errorf("%s: want line %d, %q; got\n%s", c.edit, line, c.want, problem)
		}
	}
}
