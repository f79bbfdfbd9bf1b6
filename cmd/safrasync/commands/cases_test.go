package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/sync/dryrun"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// valueOfERP draws values as the reader gives them.
func valueOfERP(t *rapid.T, name string) erp.Value {
	text := func(form string) string { return rapid.StringMatching(form).Draw(t, name) }
	switch rapid.IntRange(0, 9).Draw(t, name+" kind") {
	case 0:
		return erp.Value{}
	case 1:
		return erp.Value{Kind: erp.Int, Text: text(`-?[1-9][0-9]{0,17}`)}
	case 2:
		return erp.Value{Kind: erp.Number, Text: text(`-?(0|[1-9][0-9]{0,8})(\.[0-9]{1,6})?`)}
	case 3:
		return erp.Value{Kind: erp.Float, Text: text(`(0|[1-9][0-9]{0,8})(\.[0-9]{1,6})?`)}
	case 4:
		return erp.Value{Kind: erp.Date, Text: text(`20[0-9]{2}-0[1-9]-1[0-9]`)}
	case 5:
		return erp.Value{Kind: erp.Timestamp, Text: text(`20[0-9]{2}-0[1-9]-1[0-9]T0[0-9]:00:00(\.[0-9]{1,6})?`)}
	case 6:
		return erp.Value{Kind: erp.Instant, Text: text(`20[0-9]{2}-0[1-9]-1[0-9]T0[0-9]:00:00-0[34]:00`)}
	case 7:
		return erp.Value{Kind: erp.Bool, Text: text(`true|false`)}
	case 8:
		return erp.Value{Kind: erp.Text, Err: "bytes not valid UTF-8 at 3"}
	}
	return erp.Value{Kind: erp.Text, Text: rapid.String().Draw(t, name)}
}

// The case that docs/configuration.md explains is one that can be read: every key and every form of
// a value that it shows.
func TestTheCaseOfTheManualCanBeRead(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(manual), "```yaml\n")
	text, _, found := strings.Cut(rest, "```")
	file := filepath.Join(t.TempDir(), "case.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil || !found {
		t.Fatal(err, found)
	}
	c, err := LoadCase(file)
	if err != nil {
		t.Fatal(err)
	}
	want := caseRow{
		"filial": {Kind: erp.Text, Text: "01"}, "produto": {Kind: erp.Text, Text: "001   "},
		"quantidade": {Kind: erp.Number, Text: "1500.50"},
		"emissao":    {Kind: erp.Date, Text: "2026-03-10"}, "dt_pagto": {},
		"obs":   {Kind: erp.Text, Err: "bytes not valid UTF-8 at 3"},
		"ativo": {Kind: erp.Bool, Text: "true"}, "preco": {Kind: erp.Float, Text: "10.1"},
	}
	if diff := cmp.Diff(want, c.Row); diff != "" {
		t.Errorf("the row (-want +got):\n%s", diff)
	}
	if len(c.Problems) != 1 || len(c.WaitsFor) != 1 || len(c.Refs) != 1 || len(c.Parents) != 1 {
		t.Errorf("the case lacks something: %+v", c)
	}
}

// What `test --from` writes is read back as the same row, whatever the ERP holds: else a case would
// test another row.
func TestACaseThatWasWrittenIsReadBackAsTheSameRow(t *testing.T) {
	t.Parallel()
	column := "Número do Contrato"
	spec := mapping.JobSpec{
		Name: "c", Sends: trade.OrderCommitments, Query: "SELECT 1", Key: []string{"k"}, Sweep: "0 3 * * *",
		Schedule: "0 3 * * *",
		Fields:   map[string]mapping.FieldSpec{"price": {Columns: []string{column}}},
	}
	job, _ := mapping.Compile(spec, time.UTC) // the fields that it lacks do not matter here
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		in := dryrun.Case{
			Row: map[string]erp.Value{"k": valueOfERP(t, "k"), column: valueOfERP(t, "v")},
			References: map[string]map[string]string{"wallets": {mapping.NormalCode(rapid.StringMatching(`[!-~]{1,8}`).Draw(t,
				"code")): "x"}},
			Parents: map[string]map[string]string{}, Today: caseToday,
		}
		file := filepath.Join(dir, "case.yaml")
		if err := os.WriteFile(file, []byte(renderCase(job, in, "written by a test")), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := LoadCase(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(in, c.input(), cmp.AllowUnexported(trade.Date{})); diff != "" {
			t.Fatalf("the case differs (-written +read):\n%s", diff)
		}
	})
}
