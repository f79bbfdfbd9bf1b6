package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/trade"
)

// edit makes the sample use a changed copy of its configuration.
func (m *modern) edit(from, to string) {
	m.t.Helper()
	m.configure(m.file)
	m.program.edit(from, to)
}

// An instant becomes a day in erp.time_zone; where branches have zones of their own, the query says
// which one counts.
func TestTheDayOfAnInstantIsThatOfTheZoneOrOfItsBranch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, column, branch1, branch3 string }{
		{"one zone for all", "criado_em AS data_contrato", "2026-05-01", "2026-05-01"},
		{
			"a zone for each branch",
			"(criado_em AT TIME ZONE (SELECT f.fuso FROM coop.filial f WHERE f.id = filial_id))::date AS data_contrato",
			"2026-05-01", "2026-04-30",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := newModern(t)
			m.edit("data_contrato, entrega_inicio, entrega_fim, data_pagamento, situacao",
				c.column+", entrega_inicio, entrega_fim, data_pagamento, situacao")
			// half past midnight in São Paulo, half past eleven in Cuiabá
			m.exec(`UPDATE coop.contrato SET criado_em = '2026-05-01 03:30:00+00'`)
			for key, want := range map[string]string{"1|CT-1003/26": c.branch1, "3|CT-1001/26": c.branch3} {
				if text := m.run(0, "why", "contracts", key, "--request"); !strings.Contains(text, want) {
					t.Errorf("the request of %s does not have %s:\n%s", key, want, text)
				}
			}
		})
	}
}

// A column that an update of the ERP took away stops the job that reads it, says which, and changes
// no row; the other jobs go on.
func TestF027AColumnThatIsGoneStopsItsJobAlone(t *testing.T) {
	t.Parallel()
	m := newProtheus(t, pgtest.Database(t), "")
	m.sync()
	before := outcomesOf(m.rows("deliveries"))
	m.exec(`ALTER TABLE protheus.nn2010 RENAME COLUMN nn2_car TO nn2_numcar; UPDATE protheus.njr010 SET njr_status = 'A' WHERE njr_codctr = '000125';
		UPDATE protheus.zsh010 SET zsh_um = 'SC' WHERE zsh_seq = '004'`)
	out := m.run(1, "sync", "--sweep", "--json")
	var s summary
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if !strings.Contains(out, "nn2_car") {
		t.Errorf("nobody says which column is gone:\n%s", out)
	}
	for i, sent := range []int{1, 0, 1} {
		if run := s.Runs[i]; run.Sent != sent {
			t.Errorf("%+v, want %d sent", run, sent)
		}
	}
	if after := outcomesOf(m.rows("deliveries")); len(after) != len(before) ||
		after["0101|0000000201|01"] != string(trade.Accepted) {
		t.Errorf("deliveries are %v, were %v", after, before)
	}
	for key, r := range m.rows("deliveries") {
		if len(r.Flags) > 0 {
			t.Errorf("%s has flags %v", key, r.Flags)
		}
	}
}

// testdata/reading.md names a test for each of its claims: they are there.
func TestTheTestsThatTheReadingPageNamesExist(t *testing.T) {
	t.Parallel()
	page := must.Get(os.ReadFile("testdata/reading.md"))(t)
	var code strings.Builder
	for _, pattern := range []string{
		"*_test.go", "../../erp/*_test.go", "../../sync/*_test.go",
		"../../sync/*/*_test.go", "../../erp/*/*_test.go", "../../erp/dialect/*/*_test.go",
	} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			raw := must.Get(os.ReadFile(file))(t)
			code.Write(raw)
		}
	}
	names := regexp.MustCompile("`(Test[^`]*)`").FindAllStringSubmatch(string(page), -1)
	if len(names) < 20 {
		t.Errorf("the page names %d tests", len(names))
	}
	for _, name := range names {
		if !strings.Contains(code.String(), "\nfunc "+name[1]+"(t *testing.T)") {
			t.Errorf("%s does not exist", name[1])
		}
	}
}
