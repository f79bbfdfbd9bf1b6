package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
)

// watcher is a monitor elsewhere that answers with a status.
func watcher(t *testing.T, status int) (url string, calls <-chan string) {
	t.Helper()
	got := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.WriteHeader(status)
		got <- strings.TrimSpace(r.Method + " " + r.URL.Path + " " + string(body))
	}))
	t.Cleanup(server.Close)
	return server.URL + "/canary-heartbeat-11e2", got
}

// The service tells a monitor elsewhere that the work goes on, and what stops it; what the monitor
// does not take is a line and a metric.
func TestTheServiceGivesASignOfLife(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		key    string // of the platform
		want   string
		metric string
	}{
		"all is well":     {200, platformCanary, "POST /canary-heartbeat-11e2", `{result="done"} 1`},
		"a job stops":     {200, "wrong", "POST /canary-heartbeat-11e2/fail api_key", `{result="done"} 1`},
		"nobody takes it": {404, platformCanary, "POST /canary-heartbeat-11e2", `{result="http_404"} 1`},
	} {
		t.Run(name, func(t *testing.T) {
			url, calls := watcher(t, c.status)
			s := newService(t, "sqlite", false)
			s.env["BEAT"] = url
			s.edit("jobs:\n",
				"metrics: {listen: 127.0.0.1:0}\nalerts: {heartbeat: \"${env:BEAT}\"}\njobs:\n")
			s.write("credentials/api-key", c.key+"\n")
			s.start()
			address := s.line("its address", func(l logLine) bool { return l.Msg == "metrics are served" }).Address
			if got := received(t, calls); got != c.want {
				t.Errorf("called %q, want %q", got, c.want)
			}
			if c.status != http.StatusOK {
				s.line("the fault", func(l logLine) bool {
					return strings.HasPrefix(l.Msg, "heartbeat not delivered") && strings.Contains(l.raw, "http_404")
				})
			}
			text := ""
			for !strings.Contains(text, "safrasync_heartbeats_total"+c.metric) { // it is counted after the answer
				_, text = get(t, "http://"+address+"/metrics")
			}
			s.stop()
			if len(calls) != 0 {
				t.Errorf("called again within a minute: %q", <-calls)
			}
			if strings.Contains(strings.Join(s.latest, "\n"), "canary-heartbeat") {
				t.Errorf("the log shows the address:\n%s", strings.Join(s.latest, "\n"))
			}
		})
	}
}

// A backup tells the monitor how it went. The copy counts, not the monitor.
func TestABackupGivesASignOfLife(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		first  string
		says   string
	}{
		"taken": {200, "POST /canary-heartbeat-11e2", ""},
		"not":   {404, "POST /canary-heartbeat-11e2", "o sinal de vida não chegou ao monitor: http_404"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, calls := watcher(t, c.status)
			b := setUpBench(t, sandbox.Options{})
			b.run(cli.ExitDone, "sync")
			b.write("beat", url+"\n")
			b.edit("jobs:\n", "language: pt-BR\nalerts: {heartbeat: \"${file:beat}\"}\njobs:\n")
			out, errs := b.run(cli.ExitDone, "backup", b.path("copy.db"))
			if got := received(t, calls); got != c.first || (c.says == "") != (errs == "") ||
				!strings.Contains(errs, c.says) {
				t.Errorf("called %q, and said %s", got, errs)
			}
			out2, errs2 := b.run(cli.ExitFailed, "backup", b.path("copy.db")) // it is there already
			if got := received(t, calls); got != c.first+"/fail backup" {
				t.Errorf("a backup that failed called %q", got)
			}
			out3, errs3 := b.run(cli.ExitDone, "check", "--offline")
			if !strings.Contains(out3, "✓ sinal de vida: healthchecks.io (127.0.0.1)") || len(calls) != 0 {
				t.Errorf("check called %d times, and says:\n%s", len(calls), out3)
			}
			if strings.Contains(out+errs+out2+errs2+out3+errs3, "canary-heartbeat") {
				t.Errorf("the address is shown:\n%s%s%s", errs, errs2, out3)
			}
		})
	}
}
