package daemon

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/config/configtest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/state"
)

// waiting is a service that may begin, and whose alerts end in a channel. A request to start starts the
// server of its ledger.
func waiting(t *testing.T, server *pgtest.Cluster) (d *daemon, c *config.Config, told <-chan string, start string) {
	t.Helper()
	bodies := make(chan string, 100)
	people := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/start" { // not in the bubble, whose time would stand still while the server runs
			server.Start(t)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		bodies <- string(body)
		fmt.Fprint(w, "ok")
	}))
	people.Config.SetKeepAlivesEnabled(false) // time stands still while a connection waits for more
	people.Start()
	t.Cleanup(people.Close)
	folder := t.TempDir()
	journals := filepath.Join(folder, "journal")
	must.Do(t, os.Mkdir(journals, 0o700))
	text := strings.NewReplacer("dsn: /var/lib/safrasync/state.db", fmt.Sprintf("driver: postgres\n  dsn: %q\n  journal: %s",
		server.Database(t), journals), "jobs:\n", "language: pt-BR\nalerts:\n  webhook: {url: \"${env:HOOK}\"}\njobs:\n").
		Replace(configtest.Sample(t))
	c = configtest.Load(t, filepath.Join(folder, "config.yaml"), text, people.URL)
	d = &daemon{App: &cli.App{Config: c, Stderr: io.Discard, Version: "test"}, log: zap.NewNop()}
	options := d.LedgerOptions(c, cli.ToWrite)
	options.Begin = true
	must.Do(t, must.Get(state.Open(t.Context(), options))(t).Close())
	return d, c, bodies, people.URL + "/start"
}

// A service that waits for its ledger tells people once, and that it is over: nobody looks at a service
// that is active and running.
func TestPeopleLearnThatAServiceWaitsForItsLedger(t *testing.T) {
	t.Parallel()
	server := pgtest.Server(t)
	d, c, told, start := waiting(t, server)
	server.Stop(t)
	synctest.Test(t, func(t *testing.T) {
		go func() {
			time.Sleep(2 * time.Minute)
			if len(told) > 0 {
				t.Errorf("told at once: %s", <-told)
			}
			time.Sleep(2 * time.Hour)
			answer := must.Get(http.Get(start))(t)
			must.Do(t, answer.Body.Close())
		}()
		must.Do(t, d.openLedger(t.Context(), c))
		must.Do(t, d.store.Close())
	})
	if len(told) != 2 {
		t.Fatalf("people were told %d times, want 2", len(told))
	}
	for _, want := range []string{"o registro local do safrasync não responde", "resolvido"} {
		if body := <-told; !strings.Contains(strings.ToLower(body), want) {
			t.Errorf("%q is not in the message: %s", want, body)
		}
	}
}

// A service waits for a ledger that another server, or `safrasync rebuild`, can bring into step; it ends
// where somebody has to decide.
func TestForWhichLedgersAServiceWaits(t *testing.T) {
	t.Parallel()
	for code, waits := range map[string]bool{
		state.CodeUnreachable: true, state.CodeServer: true, state.CodeRolledBack: true,
		"state-moved": false, "state-config": false,
	} {
		for _, records := range []int{0, 3} {
			if passes(&state.Error{Code: code, Records: records}) != waits {
				t.Errorf("%s with %d records missing: want waiting %t", code, records, waits)
			}
		}
	}
}
