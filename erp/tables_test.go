package erp_test

import (
	"strings"
	"testing"

	"github.com/safrasync/safrasync/erp"
)

func TestTheTablesOfAQuery(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]string{
		`SELECT * FROM contrato`: "contrato",
		`SELECT * FROM Vendas.Contrato c, "Item" AS i WHERE c.id = i.id`:                                      "item vendas.contrato",
		`SELECT a FROM x JOIN y USING (a, b) LEFT JOIN z ON z.a = x.a, w`:                                     "w x y z",
		`SELECT EXTRACT(YEAR FROM data), TRIM(BOTH FROM nome) FROM t`:                                         "t",
		`SELECT a FROM t WHERE a IS DISTINCT FROM b AND c IN (SELECT c FROM u)`:                               "t u",
		`WITH x AS (SELECT * FROM a), y (n) AS MATERIALIZED (SELECT 1 FROM x) SELECT * FROM y JOIN b ON true`: "a b",
		`SELECT * FROM (SELECT * FROM a UNION ALL SELECT * FROM b) q`:                                         "a b",
		`SELECT * FROM ((a JOIN b ON a.i = b.i) JOIN c ON true)`:                                              "a b c",
		"SELECT * FROM `SC5010` -- FROM comment\n WHERE x = ' FROM text '":                                    "sc5010",
		`SELECT * FROM generate_series(1, 3) AS g, LATERAL (SELECT * FROM d) s`:                               "d",
		`SELECT * FROM t WHERE a = E'it\'s' AND b = $$ FROM c $$`:                                             "t",
		`SELECT (SELECT max(v) FROM cotacao), a FROM ONLY t ORDER BY a, b`:                                    "cotacao t",
		``: "",
	} {
		if got := strings.Join(erp.Tables(sql), " "); got != want {
			t.Errorf("%s: tables %q, want %q", sql, got, want)
		}
	}
}
