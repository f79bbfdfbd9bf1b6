package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
)

// A platform that forgets what it confirmed would be no rehearsal: whatever was answered before a
// kill -9 is there when it starts again.
func TestTheSandboxKeepsWhatItConfirmedAlsoWhenItIsKilled(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.jsonl")
	confirmed := map[string]bool{}
	for range 3 {
		for _, id := range confirmThenKill(t, path, 40) {
			confirmed[id] = true
		}
	}
	box, err := sandbox.Start(sandbox.Options{StatePath: path}, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	}()
	if len(confirmed) < 3*40 {
		t.Errorf("%d records were confirmed, want at least %d", len(confirmed), 3*40)
	}
	for _, r := range box.CreatedOf(sandbox.ResourceDeliveries) {
		delete(confirmed, r.ID)
	}
	if len(confirmed) > 0 {
		t.Errorf("%d confirmed records are not there any more", len(confirmed))
	}
}

// confirmThenKill starts the program's sandbox, creates deliveries from several sides at once,
// kills it in the middle when enough were confirmed, and gives the ids of those that were.
func confirmThenKill(t *testing.T, path string, enough int) (ids []string) {
	t.Helper()
	cmd := exec.Command("safrasync", "sandbox", "--listen", "127.0.0.1:0", "--state", path, "--json")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var started struct{ URL string }
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &started) != nil {
		t.Fatalf("the sandbox says %q, %v", line, err)
	}
	var mu sync.Mutex
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			client := http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for {
				id, ok := deliver(&client, started.URL)
				if !ok {
					return // it was killed
				}
				mu.Lock()
				ids = append(ids, id)
				if len(ids) == enough {
					if err := cmd.Process.Kill(); err != nil {
						t.Error(err)
					}
				}
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	if err := cmd.Wait(); err == nil {
		t.Error("it ended by itself")
	}
	return ids
}

// deliver creates a delivery; ok is false when the answer did not come.
func deliver(client *http.Client, platform string) (id string, ok bool) {
	const body = `{"contract_id":"1","delivered_volume":1,"delivered_volume_unit_of_measure":"sc","delivery_date":"2026-11-21"}`
	req, err := http.NewRequest(http.MethodPost, platform+"/api/v1/integration/deliveries", strings.NewReader(body))
	if err != nil {
		return "", false
	}
	req.Header.Set("Authorization", "any")
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	if err != nil {
		return "", false
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	var made struct{ ID string }
	if err != nil || json.Unmarshal(text, &made) != nil || made.ID == "" {
		return "", false
	}
	return made.ID, true
}
