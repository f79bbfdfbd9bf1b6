package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// A line break, a carriage return, CSI of C1 and a change of direction, in a key, a code and a
// number of the ERP.
func TestTextsOfTheERPForgeNoLineAndNoDirection(t *testing.T) {
	t.Parallel()
	const forged = "FORJADA: tudo certo"
	const text = "X\n" + forged + "\r\u009b2K\u202eY\u2066\u200f\u061c"
	d := newDesk(t)
	d.sql("erp.db", `CREATE TABLE novo AS SELECT * FROM contrato WHERE num = '000002'; UPDATE novo SET num = '`+text+`', produtor = '`+text+`', preco = '`+text+`', fim = '`+text+`';
		INSERT INTO contrato SELECT * FROM novo; UPDATE novo SET produtor = '100', num = num || '2'; INSERT INTO contrato SELECT * FROM novo; DROP TABLE novo;`)
	d.run(0, "sync")
	key := "01|" + text
	shown := 0
	for _, args := range [][]string{
		{"rows"},
		{"why", "contracts", key},
		{"explain", "contracts"},
		{"check"},
		{"sync", "--dry-run"},
		{"status"},
		{"why", "contracts", key, "--request"},
		{"refs", "list"},
		{"report"},
		{"retry", "contracts", key, "--reason", text, "--as", text, "--yes"},
		{"resync", "contracts", key, "--reason", text, "--yes"},
		{"report", "--audit"},
		{"sync"},
		{"doctor"},
	} {
		for _, asJSON := range []bool{false, true} {
			given := slices.Clone(args)
			if asJSON {
				given = append(given, "--json")
			}
			_, out, said := d.ask(t.Context(), "", given...)
			for line := range strings.Lines(out + "\n" + said) {
				line = strings.TrimSuffix(line, "\n")
				if strings.HasPrefix(strings.TrimLeft(line, " │|→-!✓"), forged) {
					t.Errorf("%q writes a line of the ERP: %q", given, line)
				}
				if strings.ContainsFunc(line, trade.ControlsTerminal) {
					t.Errorf("%q writes what steers the terminal: %q", given, line)
				}
				if asJSON && strings.HasPrefix(line, "{") && !json.Valid([]byte(line)) {
					t.Errorf("%q writes no JSON: %q", given, line)
				}
			}
			if strings.Contains(out+said, "FORJADA") {
				shown++
			}
		}
	}
	files := t.TempDir()
	for _, name := range []string{"r.csv", "r.html", "r.json", "d.csv"} {
		args := []string{"report", "--output", filepath.Join(files, name)}
		if name == "d.csv" {
			args = []string{"report", "--failed", "--output", filepath.Join(files, name)}
		}
		d.run(0, args...)
		text := string(must.Get(os.ReadFile(filepath.Join(files, name)))(t))
		steers(t, name, text)
	}
	b := d.as(trade.Administrator)
	causes := causesOpen(b)
	steers(t, "the causes", causes)
	if !strings.Contains(causes, "FORJADA") {
		t.Error("no cause shows the text")
	}
	for _, path := range []string{"/rows", fmt.Sprint("/rows/", d.entry("contracts", key).ID)} {
		b.Get(path).Wants(http.StatusOK, "FORJADA")
		steers(t, path, b.Body)
	}
	if shown < 12 {
		t.Errorf("%d answers show the text: the test shows little", shown)
	}
}

// steers wants nothing in a text for people that changes the direction or controls a terminal.
func steers(t *testing.T, where, text string) {
	t.Helper()
	for i, r := range strings.TrimPrefix(text, "\ufeff") {
		if trade.ControlsTerminal(r) && !strings.ContainsRune("\n\r\t", r) {
			t.Errorf("%s has %U: %q", where, r, text[max(0, i-60):min(len(text), i+60)])
			return
		}
	}
}
