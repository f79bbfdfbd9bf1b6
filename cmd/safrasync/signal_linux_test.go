package main

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// holding is a bench whose platform creates what is posted at once, and answers when the test says
// so; one request is in flight at a time, for as long as timeout says.
func holding(t *testing.T, timeout string) (b *bench, arrived, answer chan struct{}) {
	t.Helper()
	arrived, answer = make(chan struct{}, 10), make(chan struct{}, 10)
	b = setUpBench(t, sandbox.Options{OnExecuted: func(int, sandbox.Record) {
		arrived <- struct{}{}
		<-answer
	}})
	b.edit("rate_limit: 0", "rate_limit: 0\n  max_in_flight: 1")
	b.edit("timeout: 60s", "timeout: "+timeout)
	return b, arrived, answer
}

// counts returns how many records there are, and how many of them more than once.
func (b *bench) counts() (records, double int) {
	amounts := map[any]bool{}
	for _, r := range b.box.Created() {
		if records++; amounts[r.Fields["amount"]] {
			double++
		}
		amounts[r.Fields["amount"]] = true
	}
	return records, double
}

// start begins a run in a process of its own.
func (b *bench) start() *exec.Cmd {
	b.t.Helper()
	cmd := b.command("sync")
	must.Do(b.t, cmd.Start())
	b.t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd
}

// states counts the contracts by state.
func (b *bench) states() map[trade.State]int {
	b.t.Helper()
	out, _ := b.run(cli.ExitDone, "rows", "contracts", "--json")
	states := map[trade.State]int{}
	for _, row := range jsonLines[row](b.t, out) {
		states[row.State]++
	}
	return states
}

// until waits for what the kernel says of a process.
func until(t *testing.T, cmd *exec.Cmd, holds func(status string) bool) {
	t.Helper()
	for {
		status := must.Get(os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/status"))(t)
		if holds(string(status)) {
			return
		}
		runtime.Gosched()
	}
}

// field returns one line of /proc/PID/status.
func field(status, name string) string {
	_, rest, _ := strings.Cut(status, "\n"+name+":")
	value, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(value)
}

// F073: a service that is stopped waits for what is in flight; killed because that took too long,
// it leaves the row in doubt, has begun nothing more since, and the next run sends the rest once.
func TestF073AKillAfterAStopThatTookTooLongLeavesADoubt(t *testing.T) {
	t.Parallel()
	b, arrived, answer := holding(t, "60s")
	cmd := b.start()
	<-arrived
	must.Do(t, cmd.Process.Signal(syscall.SIGTERM))
	until(t, cmd, func(status string) bool { // it was taken, and the process lives
		pending, err := strconv.ParseUint(field(status, "ShdPnd"), 16, 64)
		return err == nil && pending&(1<<(uint(syscall.SIGTERM)-1)) == 0
	})
	if records, _ := b.counts(); records != 1 {
		t.Errorf("%d requests after the stop, want the one that was in flight", records)
	}
	must.Do(t, cmd.Process.Kill())
	_ = cmd.Wait() // killed
	close(answer)
	b.run(cli.ExitDone, "sync")
	if states := b.states(); states[trade.InDoubt] != 1 || states[trade.Accepted] != 1 || states[trade.Sending] != 0 {
		t.Errorf("states %v", states)
	}
	if records, double := b.counts(); records != 2 || double != 0 {
		t.Errorf("%d records, %d of them more than once", records, double)
	}
}

// F080: a process that is stopped while its request is in flight finds the answer when it goes
// on; where none came, the time-out, which is a doubt.
func TestF080AProcessThatSleepsOnTheWireFindsTheAnswerOrADoubt(t *testing.T) {
	t.Parallel()
	b, arrived, answer := holding(t, "10s") // the answer is read within this time also on a busy host
	cmd := b.start()
	for n := range 2 {
		<-arrived
		must.Do(t, cmd.Process.Signal(syscall.SIGSTOP))
		until(t, cmd, func(status string) bool { return strings.HasPrefix(field(status, "State"), "T") })
		if n == 0 {
			answer <- struct{}{} // while it sleeps
		}
		must.Do(t, cmd.Process.Signal(syscall.SIGCONT))
	}
	must.Do(t, cmd.Wait())
	if states := b.states(); states[trade.InDoubt] != 1 || states[trade.Accepted] != 1 {
		t.Errorf("states %v", states)
	}
	close(answer)
	b.run(cli.ExitDone, "sync")
	if records, double := b.counts(); records != 2 || double != 0 {
		t.Errorf("%d records, %d of them more than once", records, double)
	}
}
