package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
)

// ask makes one request to a sandbox of the test's own.
func ask(t *testing.T, method, url, key, body string) (int, string) {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body)))(t)
	req.Header.Set("Authorization", key)
	req.Header.Set("Content-Type", "application/json")
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	must.Do(t, err)
	defer res.Body.Close()
	text := must.Get(io.ReadAll(res.Body))(t)
	return res.StatusCode, string(text)
}

func TestTheSandboxIsWhatItsFlagsSayAndEndsWithASignal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	world := filepath.Join(dir, "world.json")
	const known, unknown = "5d1e7c7a-90c4-4e6c-8c51-0e2f4b6a8c9d", "b8a7c6d5-0e1f-4a2b-9c3d-4e5f6a7b8c9d"
	must.Do(t, os.WriteFile(world, []byte(`{"producers":[{"producer_id":"`+known+
		`","document":"52998224725","known":true}]}`), 0o600))
	log := filepath.Join(dir, "log.jsonl")
	cmd := exec.Command("safrasync", "sandbox", "--listen", "127.0.0.1:0", "--api-key", "the-key", "--world", world,
		"--not-contracted", "webhooks",
		"--faults", "get:producers:status=503@2", "--log", log, "--seed", "7", "--json")
	var messages bytes.Buffer
	cmd.Stderr = &messages
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var started struct {
		URL    string
		Seed   int64
		Key    string `json:"api_key"`
		Report string
	}
	if err != nil || json.Unmarshal(line, &started) != nil || started.Seed != 7 || started.Key != "the-key" ||
		started.Report != started.URL+"/_sandbox/report" {
		t.Fatalf("the sandbox says %q, %v", line, err)
	}
	api := started.URL + "/api/v1/integration"
	for _, c := range []struct {
		method, url, key, body string
		status                 int
		answer                 string
	}{
		{"GET", api + "/webhooks", "another", "", 401, `"error"`},
		{"GET", api + "/webhooks", "the-key", "", 403, "message.module.not-contracted"},
		{"GET", api + "/producers/-/documents/52998224725", "the-key", "", 200, known},
		{"GET", api + "/producers/-/documents/52998224725", "the-key", "", 503, ""},
		{"GET", api + "/producers/-/documents/11144477735", "the-key", "", 404, "message.producer.not-found"},
		{"PUT", started.URL + "/_sandbox/modules", "", "", 200, `"not_contracted":[]`},
		{"GET", api + "/webhooks", "the-key", "", 200, "[]"},
		{"PUT", started.URL + "/_sandbox/faults", "", "get:status=401,empty", 200, "get:status=401,empty"},
		{"GET", api + "/webhooks", "the-key", "", 401, ""},
		{"PUT", started.URL + "/_sandbox/faults", "", "", 200, `"faults":[]`},
		{
			"POST", started.URL + "/_sandbox/world", "",
			`{"kind":"producers","id":"` + unknown + `","document":"11144477735","known":true}`, 204, "",
		},
		{"GET", api + "/producers/-/documents/11144477735", "the-key", "", 200, unknown},
	} {
		if status, answer := ask(t, c.method, c.url, c.key, c.body); status != c.status ||
			!strings.Contains(answer, c.answer) {
			t.Errorf("%s %s: %d %s, want %d %s", c.method, c.url, status, answer, c.status, c.answer)
		}
	}
	must.Do(t, cmd.Process.Signal(os.Interrupt))
	if err := cmd.Wait(); err != nil || !strings.Contains(messages.String(),
		"sandbox encerrado: 0 contratos, 0 entregas e 0 linhas de rastreabilidade criados, 8 requisições recebidas") {
		t.Errorf("it ended with %v: %s", err, messages.String())
	}
	text, err := os.ReadFile(log)
	if got := strings.Count(string(text), "\n"); err != nil || got != 8 {
		t.Errorf("the log has %d lines, %v; want one for each of 8 requests", got, err)
	}
}
