package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
)

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
		app := cli.App{
			Stdin: strings.NewReader(""), Stdout: &messages, Stderr: &messages,
			Env: func(name string) (string, bool) { return "key", name == "SAFRASYNC_API_KEY" },
		}
		path := filepath.Join(dir, out)
		code := execute(ctx, &app, []string{
			"--config", filepath.Join(dir, "config.yaml"), "api", "consent", "--file",
			filepath.Join(dir, "list.csv"), "--out", path,
		})
		if code != cli.ExitFailed || !strings.Contains(messages.String(), "Interrompido") {
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
