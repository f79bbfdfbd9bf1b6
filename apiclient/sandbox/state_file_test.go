package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
)

func TestAStateFileIsReopened(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.jsonl")
	first := start(t, sandbox.Options{StatePath: path})
	sent := " " + body("unknown", "[null]") + "\n"
	made := first.post(sent)
	for resource := range creations {
		if resource != sandbox.ResourceOrderCommitments {
			first.creates(resource, creations[resource].with("hmac_secret", `"h"`))
		}
	}
	gone := first.register("DELETE_FARM", "https://gone.example.org/")
	first.call("DELETE", webhooks+"/"+gone, "")
	first.call("PUT", webhooks, creations[sandbox.ResourceWebhooks].with("url", `"https://two.example.org/"`))
	must.Do(t, first.Close())

	second := start(t, sandbox.Options{StatePath: path})
	if diff := cmp.Diff(first.CreatedOf(), second.CreatedOf()); diff != "" {
		t.Errorf("records (-before +after):\n%s", diff)
	}
	if got := string(second.Created()[0].Body); got != sent {
		t.Errorf("body = %q, want it byte for byte", got)
	}
	if diff := cmp.Diff(first.Webhooks(), second.Webhooks(), cmpopts.EquateApproxTime(0)); diff != "" ||
		len(second.Webhooks()) != 1 {
		t.Errorf("webhooks (-before +after):\n%s", diff)
	}
	if g := second.get(orders + "/" + second.Created()[0].ID); g.status != 200 || g.body != made.body {
		t.Errorf("GET = %d %s", g.status, g.body)
	}
	second.post(body())
	must.Do(t, second.Close())
	third := start(t, sandbox.Options{StatePath: path})
	third.wantCreated(2)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("file = %v, %v", info.Mode(), err)
	}
}

func TestALineThatACrashCutOffIsTakenAway(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.jsonl")
	b := start(t, sandbox.Options{StatePath: path})
	b.post(body())
	b.post(body())
	must.Do(t, b.Close())
	whole := must.Get(os.ReadFile(path))(t)
	lines := strings.SplitAfter(string(whole), "\n")
	kept := map[int]int{
		0: 0, len(lines[0]) - 1: 0, len(lines[0]): 0, len(lines[0]) + 5: 0, len(lines[0] + lines[1]): 1,
		len(whole) - 1: 1, len(whole): 2,
	}
	for cut, records := range kept {
		torn := filepath.Join(t.TempDir(), "torn.jsonl")
		must.Do(t, os.WriteFile(torn, whole[:cut], 0o600))
		b := start(t, sandbox.Options{StatePath: torn})
		b.wantCreated(records)
		b.post(body())
		must.Do(t, b.Close())
		start(t, sandbox.Options{StatePath: torn}).wantCreated(records + 1)
	}
}

func TestAFileThatIsNoStateIsLeftAlone(t *testing.T) {
	t.Parallel()
	const head = `{"safrasync_sandbox_state":1}` + "\n"
	for _, text := range []string{
		"api: {}\n", "x", "{}\n", head + "{\n", head + "{}\n", head + `{"other":1}` + "\n",
		head + `{"record":{"id":"1","resource":"cats","body":"{}"}}` + "\n",
		head + `{"record":{"id":"1","resource":"deliveries","body":"["}}` + "\n",
	} {
		path := filepath.Join(t.TempDir(), "config.yaml")
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		r, err := sandbox.Start(sandbox.Options{StatePath: path}, "127.0.0.1:0")
		if err == nil {
			_ = r.Close()
		}
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: Start = %v", text, err)
		}
		if after, _ := os.ReadFile(path); string(after) != text {
			t.Errorf("%q became %q", text, after)
		}
	}
	if _, err := sandbox.Start(sandbox.Options{StatePath: filepath.Join(t.TempDir(), "no", "x")},
		"127.0.0.1:0"); err == nil {
		t.Error("a folder that is not there")
	}
}

func TestNothingIsAnsweredThatCouldNotBeKept(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{StatePath: filepath.Join(t.TempDir(), "state.jsonl")})
	sandbox.BreakState(b.Running)
	if g, err := b.try(b.request("POST", orders, body())); err == nil {
		t.Errorf("POST = %+v", g)
	}
	if err := b.LogErr(); err == nil || !strings.Contains(err.Error(), "write the state file") {
		t.Errorf("LogErr = %v", err)
	}
}

func TestNewCannotCloseAFileSoItTakesNone(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("New took a state file")
		}
	}()
	sandbox.New(sandbox.Options{StatePath: "x"})
}
