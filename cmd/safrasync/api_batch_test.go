package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/trade"
)

func TestACSVOpensInASpreadsheetWithoutHarm(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	to := csv.NewWriter(&got)
	to.Comma = ';'
	if err := writeCells(to, []string{
		"01234567890", "=1+1", "+55", "-1", "@SUM(A1)", "*** ; \"x\"",
		"ção",
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("01234567890;'=1+1;'+55;'-1;'@SUM(A1);\"*** ; \"\"x\"\"\";ção\n", got.String()); diff != "" {
		t.Errorf("CSV (-want +got):\n%s", diff)
	}
}

func TestListsOfProducersAsSpreadsheetsWriteThem(t *testing.T) {
	t.Parallel()
	v := voice{lang: trade.English, zone: time.UTC}
	want := []consentFlags{{"1", "PF", ""}, {"2", "PJ", "3"}}
	for name, text := range map[string]string{
		"commas":              "identity,person_type,corporate_identity\n1,PF,\n2,PJ,3\n",
		"semicolons and BOM":  "\xef\xbb\xbfIdentity;Person_Type;Corporate_Identity\r\n1;pf;\r\n 2 ;pj;3\r\n;;\r\n",
		"another order":       "corporate_identity,person_type,identity\n,PF,1\n3,PJ,2\n",
		"guarded and a short": "identity,person_type,corporate_identity\n1,PF\n2,PJ,3\n",
	} {
		got, err := readProducers(strings.NewReader(text), v)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(consentFlags{})); diff != "" || err != nil {
			t.Errorf("%s (-want +got):\n%s%v", name, diff, err)
		}
	}
	for name, text := range map[string]string{
		"nothing": "", "no header": "52998224725,PF\n", "a column is missing": "identity\n1\n",
		"a column twice": "identity,person_type,identity\n",
		"another column": "identity,person_type,name\n", "a broken quote": "identity,person_type\n\"52998224725,PF\n",
		"a workbook": "PK\x03\x04\xff", "not UTF-8": "identity,person_type\n\xff,PF\n",
		"more cells than the header": "identity,person_type\n52998224725,PF,x\n",
	} {
		if got, err := readProducers(strings.NewReader(text), v); err == nil ||
			strings.Contains(err.Error(), "52998224725") {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestAnInterruptedBatchKeepsWhatWasDone(t *testing.T) {
	t.Parallel()
	for _, out := range []string{"out.csv"} {
		dir := t.TempDir()
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		var asked atomic.Int32
		platform := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asked.Add(1) == 2 {
				interrupt() // while the second question is on its way
				<-r.Context().Done()
				return
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"status":"CONSENTED","consent_date":"2026-11-21T09:00:00Z"}`)
		}))
		defer platform.Close()
		config, err := os.ReadFile("testdata/coop/config.yaml")
		if err != nil {
			t.Fatal(err)
		}
		files := map[string]string{
			"config.yaml": string(withLedger(bytes.ReplaceAll(config, []byte("$API"), []byte(platform.URL)), dir)),
			"list.csv":    "identity,person_type\n52998224725,PF\n11144477735,PF\n52998224725,PF\n",
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var messages bytes.Buffer
		app := App{
			Stdin: strings.NewReader(""), Stdout: &messages, Stderr: &messages,
			Env: func(name string) (string, bool) { return "key", name == "SAFRASYNC_API_KEY" },
		}
		path := filepath.Join(dir, out)
		code := app.Run(ctx, []string{
			"--config", filepath.Join(dir, "config.yaml"), "api", "consent", "--file",
			filepath.Join(dir, "list.csv"), "--out", path,
		})
		if code != exitFailed || !strings.Contains(messages.String(), "Interrompido") {
			t.Errorf("%s: exit code %d: %s", out, code, messages.String())
		}
		if got := rowsOf(t, path); len(got) != 2 || !strings.Contains(strings.Join(got[1], ";"), "CONSENTED") {
			t.Errorf("%s: rows %q, want the header and the first producer", out, got)
		}
	}
}

// rowsOf reads a result again.
func rowsOf(t *testing.T, path string) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(text), "\r\n"), "\r\n") {
		rows = append(rows, strings.Split(line, ";"))
	}
	return rows
}
