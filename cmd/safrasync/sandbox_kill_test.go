package main

import (
	"bufio"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
)

// A platform that forgets what it confirmed would be no rehearsal: whatever was answered before a
// kill -9 is there when it starts again.
func TestTheSandboxKeepsWhatItConfirmedAlsoWhenItIsKilled(t *testing.T) {
	t.Parallel()
	const rounds, enough = 3, 40
	path := filepath.Join(t.TempDir(), "state.jsonl")
	confirmed := map[string]bool{}
	for range rounds {
		cmd := exec.Command("safrasync", "sandbox", "--listen", "127.0.0.1:0", "--state", path, "--json")
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		must.Do(t, err)
		var started struct{ URL string }
		line, err := bufio.NewReader(out).ReadBytes('\n')
		if err != nil || json.Unmarshal(line, &started) != nil {
			t.Fatalf("the sandbox says %q, %v", line, err)
		}
		client := must.Get(apiclient.New(apiclient.Options{BaseURL: started.URL, APIKey: "any"}))(t)
		var mu sync.Mutex
		var clients sync.WaitGroup
		before := len(confirmed)
		for range 4 { // from several sides at once, until it is killed
			clients.Go(func() {
				for {
					made, _, err := client.CreateDelivery(t.Context(), apiclient.DeliveryRequest{
						ContractID: "1", DeliveredVolume: "1",
						DeliveredVolumeUnitOfMeasure: "sc", DeliveryDate: "2026-11-21",
					})
					if err != nil {
						return
					}
					mu.Lock()
					confirmed[made.ID] = true
					if len(confirmed) == before+enough {
						if err := cmd.Process.Kill(); err != nil {
							t.Error(err)
						}
					}
					mu.Unlock()
				}
			})
		}
		clients.Wait()
		client.Close()
		if err := cmd.Wait(); err == nil {
			t.Error("it ended by itself")
		}
	}
	if len(confirmed) < rounds*enough {
		t.Errorf("%d records were confirmed, want at least %d", len(confirmed), rounds*enough)
	}
	box := startSandbox(t, sandbox.Options{StatePath: path})
	for _, r := range box.CreatedOf(sandbox.ResourceDeliveries) {
		delete(confirmed, r.ID)
	}
	if len(confirmed) > 0 {
		t.Errorf("%d confirmed records are not there any more", len(confirmed))
	}
}
