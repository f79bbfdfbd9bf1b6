package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/trade"
)

// holdingPlatform creates what is posted at once, and answers when the test says so.
type holdingPlatform struct {
	*httptest.Server
	arrived chan struct{} // one for each POST, once the record is there
	answer  chan struct{} // one lets one answer go; closed, all of them

	mu      sync.Mutex
	created map[string]int // by amount
}

func newHoldingPlatform(t *testing.T) *holdingPlatform {
	t.Helper()
	p := &holdingPlatform{arrived: make(chan struct{}, 10), answer: make(chan struct{}, 10), created: map[string]int{}}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			fmt.Fprint(w, "[]")
			return
		}
		var body struct {
			Amount json.Number `json:"amount"`
		}
		if text, err := io.ReadAll(r.Body); err != nil || json.Unmarshal(text, &body) != nil {
			return
		}
		p.mu.Lock()
		p.created[body.Amount.String()]++
		p.mu.Unlock()
		p.arrived <- struct{}{}
		select {
		case <-p.answer:
			w.WriteHeader(http.StatusCreated)
			fmt.Fprintf(w, `{"id":%q}`, uuid.NewString())
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(p.Close)
	return p
}

// counts gives how many records there are, and how many of them more than once.
func (p *holdingPlatform) counts() (records, double int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range p.created {
		if records += n; n > 1 {
			double++
		}
	}
	return records, double
}

// on lets a bench's configuration lead to the platform, one request at a time.
func (p *holdingPlatform) on(b *bench, timeout string) {
	b.t.Helper()
	config, err := os.ReadFile(b.path("config.yaml"))
	if err != nil {
		b.t.Fatal(err)
	}
	text := strings.NewReplacer(b.box.URL, p.URL, "rate_limit: 0", "rate_limit: 0\n  max_in_flight: 1", "timeout: 60s",
		"timeout: "+timeout).Replace(string(config))
	if err := os.WriteFile(b.path("config.yaml"), []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// start begins a run in a process of its own.
func (b *bench) start() *exec.Cmd {
	b.t.Helper()
	cmd := exec.Command("safrasync", "--config", b.path("config.yaml"), "sync")
	cmd.Env = append(os.Environ(), "SAFRASYNC_API_KEY="+platformCanary)
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd
}

// states counts the contracts by state.
func (b *bench) states() map[trade.State]int {
	b.t.Helper()
	out, _ := b.run(b.t.Context(), cli.ExitDone, "rows", "contracts", "--json")
	states := map[trade.State]int{}
	for line := range strings.Lines(out) {
		var row struct{ State trade.State }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			b.t.Fatal(err)
		}
		states[row.State]++
	}
	return states
}

// until waits for what the kernel says of a process.
func until(t *testing.T, cmd *exec.Cmd, holds func(status string) bool) {
	t.Helper()
	for {
		status, err := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/status")
		if err != nil {
			t.Fatal(err)
		}
		if holds(string(status)) {
			return
		}
		runtime.Gosched()
	}
}

// field gives one line of /proc/PID/status.
func field(status, name string) string {
	_, rest, _ := strings.Cut(status, "\n"+name+":")
	value, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(value)
}

// F073: a service that is stopped waits for what is in flight; killed because that took too long,
// it leaves the row in doubt, has begun nothing more since, and the next run sends the rest once.
func TestF073AKillAfterAStopThatTookTooLongLeavesADoubt(t *testing.T) {
	t.Parallel()
	b := setUpBench(t, sandbox.Options{})
	p := newHoldingPlatform(t)
	p.on(b, "60s")
	cmd := b.start()
	<-p.arrived
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	until(t, cmd, func(status string) bool { // it was taken, and the process lives
		pending, err := strconv.ParseUint(field(status, "ShdPnd"), 16, 64)
		return err == nil && pending&(1<<(uint(syscall.SIGTERM)-1)) == 0
	})
	if records, _ := p.counts(); records != 1 {
		t.Errorf("%d requests after the stop, want the one that was in flight", records)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	close(p.answer)
	b.run(t.Context(), cli.ExitDone, "sync")
	if states := b.states(); states[trade.InDoubt] != 1 || states[trade.Accepted] != 1 || states[trade.Sending] != 0 {
		t.Errorf("states %v", states)
	}
	if records, double := p.counts(); records != 2 || double != 0 {
		t.Errorf("%d records, %d of them more than once", records, double)
	}
}

// F080: a process that is stopped while its request is in flight finds the answer when it goes
// on; where none came, the time-out, which is a doubt.
func TestF080AProcessThatSleepsOnTheWireFindsTheAnswerOrADoubt(t *testing.T) {
	t.Parallel()
	b := setUpBench(t, sandbox.Options{})
	p := newHoldingPlatform(t)
	p.on(b, "10s") // the answer is read within this time also on a busy host
	cmd := b.start()
	for n := range 2 {
		<-p.arrived
		if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		until(t, cmd, func(status string) bool { return strings.HasPrefix(field(status, "State"), "T") })
		if n == 0 {
			p.answer <- struct{}{} // while it sleeps
		}
		if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if states := b.states(); states[trade.InDoubt] != 1 || states[trade.Accepted] != 1 {
		t.Errorf("states %v", states)
	}
	close(p.answer)
	b.run(t.Context(), cli.ExitDone, "sync")
	if records, double := p.counts(); records != 2 || double != 0 {
		t.Errorf("%d records, %d of them more than once", records, double)
	}
}
