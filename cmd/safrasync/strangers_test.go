package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// Whatever strangers of ten addresses send to whatever listener of the service, more of it than
// there are places, others are served; the refusals are counted, and the log has a line for each
// kind of them, not for each.
func TestWhateverStrangersSendOthersAreServedByEveryListener(t *testing.T) {
	s, port, roots := hearingService(t, state.SQLite)
	s.write("credentials/panel", panelToken+"\n")
	s.edit("jobs:\n", `metrics: {listen: 127.0.0.1:0}
console: {listen: 127.0.0.1:0}
http_api: {listen: 127.0.0.1:0, tokens: [{name: painel, token: "${file:panel}", scopes: [status]}]}
jobs:
`)
	s.addUser(trade.Administrator)
	s.start()
	at := map[string]string{}
	for len(at) < 3 {
		l := s.line("its addresses", func(l logLine) bool { return strings.HasSuffix(l.Msg, "served") && l.Address != "" })
		at[l.Msg] = l.Address
	}
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true,
	}
	// less than a slow request may take: nobody is served because one has ended
	other := &http.Client{Transport: transport, Timeout: 8 * time.Second}
	served := func(address string, want int) string {
		t.Helper()
		r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody))(t)
		r.Header.Set("Authorization", "Bearer "+panelToken)
		answer, err := other.Do(r)
		if err != nil {
			t.Errorf("%v", err)
			return ""
		}
		defer answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: %d, want %d", address, answer.StatusCode, want)
		}
		return string(must.Get(io.ReadAll(answer.Body))(t))
	}
	listeners := []struct {
		address, asked string
		want           int
		paths          []string
	}{
		{
			at["the console is served"], "http://" + at["the console is served"] + "/login", 200,
			[]string{"/login", "/rows"},
		},
		{
			at["metrics are served"], "http://" + at["metrics are served"] + "/metrics", 200,
			[]string{"/metrics", "/readyz"},
		},
		{
			at["http_api is served"], "http://" + at["http_api is served"] + "/api/v1/status", 200,
			[]string{"/api/v1/runs", "/api/v1/status", "/api/v1/"},
		},
		{fmt.Sprintf("127.0.0.1:%d", port), fmt.Sprintf("https://localhost:%d/x", port), 405, []string{"/x"}},
	}
	for _, l := range listeners {
		served(l.asked, l.want)
		deaf := consoletest.NewStranger(t, 2, l.address) // reads nothing of what it asks for
		for range 6 {
			deaf.Send(strings.Repeat("GET "+l.paths[0]+" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 500))
		}
		served(l.asked, l.want)
		for host := range 10 {
			stranger := consoletest.NewStranger(t, byte(2+host), l.address)
			for _, path := range l.paths {
				for _, method := range consoletest.Methods {
					for _, body := range consoletest.SlowBodies {
						stranger.Send(method + " " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + body)
					}
				}
				for _, text := range consoletest.OddRequests("POST", path) {
					stranger.Send(text)
				}
			}
			served(l.asked, l.want)
		}
	}
	text := served(listeners[1].asked, 200)
	for _, want := range []string{"metrics", "http_api"} {
		name := fmt.Sprintf(`safrasync_refused_total{cause="connection",listener=%q} `, want)
		_, count, _ := strings.Cut(text, name)
		if count == "" || strings.HasPrefix(count, "0\n") {
			t.Errorf("no refusal of %s is counted:\n%s", want, text)
		}
	}
	log := s.rest()
	if n := strings.Count(log, "requests of strangers were refused"); n == 0 || n > 30 {
		t.Errorf("the log has %d lines about refusals:\n%s", n, log)
	}
	if strings.Contains(log, `"level":"error"`) {
		t.Errorf("the log has errors:\n%s", log)
	}
	s.stop()
}
