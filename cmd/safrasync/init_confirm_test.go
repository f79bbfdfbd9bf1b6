package main

import (
	"os"
	"strings"
	"testing"
)

// What init proposes neither loses nor doubles a row unless a person has taken a mark away: rows whose flag is NULL stay in, other flags are asked about, and a total of the document is no volume of
// its lines.
func TestB2InitProposesNothingThatLosesOrDoublesWithoutAMark(t *testing.T) {
	t.Parallel()
	b := &initBench{t, t.TempDir(), map[string]string{"LANG": "en_US.UTF-8"}}
	if err := runSQLText(b.path("erp.db"), `
		CREATE TABLE contrato (numero TEXT PRIMARY KEY, quantidade NUMERIC, excluido TEXT, ativo TEXT, estornado INTEGER);
		INSERT INTO contrato VALUES ('1', 10, 'N', 'S', 0), ('2', 20, NULL, 'S', 0), ('3', 30, 'S', 'N', 1), ('4', 40, '', 'S', 0);
		CREATE TABLE romaneio_item (id INTEGER PRIMARY KEY, romaneio TEXT, contrato_id INTEGER, peso_liquido NUMERIC, data_entrega TEXT);
		INSERT INTO romaneio_item VALUES (1, '7', 1, 1000, '2026-03-10'), (2, '7', 1, 1000, '2026-03-10'), (3, '8', 2, 500, '2026-03-11');`); err != nil {
		t.Fatal(err)
	}
	b.run(0, "--config", b.path("new.yaml"), "init", "--driver", "sqlite", "--dsn", b.path("erp.db"), "--contracts", "contrato", "--deliveries", "romaneio_item")
	raw, err := os.ReadFile(b.path("new.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for _, want := range []string{
		"-- PREENCHER: rows that do not meet (excluido IS NULL OR excluido NOT IN ('S')) are left out",
		"-- PREENCHER: the column ativo seems", "-- PREENCHER: the column estornado seems",
		"{column: PREENCHER, sent_by: contracts}", "peso_liquido is the same in all rows of one number",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("without %q:\n%s", want, text)
		}
	}
}
