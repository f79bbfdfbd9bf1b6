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
	"testing"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
)

func TestAnInterruptedRunIsReportedLikeAnyOther(t *testing.T) {
	dir := t.TempDir()
	ctx, interrupt := context.WithCancel(context.Background())
	defer interrupt()
	platform := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			fmt.Fprint(w, "[]")
			return
		}
		interrupt() // while the first contract is on its way
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"id":%q}`, uuid.NewString())
	}))
	defer platform.Close()
	config, err := os.ReadFile("testdata/coop/config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("$API", platform.URL, "dsn: erp.db", "dsn: "+filepath.Join(dir, "erp.db"),
		"dsn: state.db", "dsn: "+filepath.Join(dir, "state.db"),
		"rate_limit: 0", "rate_limit: 0\n  max_in_flight: 1").Replace(string(config))
	path := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := runSQL(filepath.Join(dir, "erp.db"), "testdata/coop/erp.sql"); err != nil {
		t.Fatal(err)
	}
	run := func(ctx context.Context, args ...string) (int, string) {
		var out bytes.Buffer
		app := cli.App{
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out,
			Env: func(name string) (string, bool) { return "key", name == "SAFRASYNC_API_KEY" },
		}
		return execute(ctx, &app, append([]string{"--config", path}, args...)), out.String()
	}
	if code, out := run(context.Background(), "state", "new"); code != cli.ExitDone {
		t.Fatal(out)
	}
	for kind, file := range map[string]string{
		"producers": "producers", "users": "users", "wallets": "wallets",
		"delivery_places": "places",
	} {
		if code, out := run(context.Background(), "refs", "import", kind, "testdata/coop/"+file+".csv",
			"--yes"); code != cli.ExitDone {
			t.Fatal(out)
		}
	}
	code, out := run(ctx, "sync")
	if code != cli.ExitFailed {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{
		"1  enviado", "1  pendente", "COMPRA exige data de pagamento",
		"Contratos (contracts) PAROU: interrompido",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the report does not say %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "erro:") {
		t.Errorf("an interruption is no error:\n%s", out)
	}
}
