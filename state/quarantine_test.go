package state

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

func TestI14ASecondSendingWaitsForTheQuarantineOnTheClockOfTheBoot(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		a := doubt(t, s, lease, mustRecord(t, s, lease, newEntry("a"))[0])
		e := mustEntry(t, s, "contracts", "a")
		try := func(ticks time.Duration, want bool) {
			t.Helper()
			done, err := s.Act(t.Context(), []trade.Act{again(e, ticks)})
			if err != nil || done[0] != want {
				t.Fatalf("at %s: done %v, %v; want %v", ticks, done, err, want)
			}
		}
		try(100*time.Hour, false) // this boot has seen nothing of it
		if n, err := s.Watch(t.Context(), "contracts", "another boot", 0); err != nil || n != 1 {
			t.Fatal(n, err)
		}
		try(100*time.Hour, false) // nor does what another one saw say anything here
		mustWatch(t, s, time.Hour, 1)
		mustWatch(t, s, 9*time.Hour, 0) // the first sight counts
		try(time.Hour+15*time.Minute-time.Millisecond, false)
		// The sender is heard of after all, and knows no more: its time-out was over only now.
		mustSettle(t, s, lease, unknown(a))
		try(10*time.Hour, false)
		mustWatch(t, s, 10*time.Hour, 1)
		try(10*time.Hour+15*time.Minute, true)
		if got := mustEntry(t, s, "contracts", "a"); got.Generation != 2 || got.ResentBy != 1 ||
			got.State != trade.Pending {
			t.Errorf("%+v", got)
		}
		bare := again(mustEntry(t, s, "contracts", "a"), 100*time.Hour)
		bare.Resend = nil
		if _, err := s.Act(t.Context(), []trade.Act{bare}); err == nil {
			t.Error("a generation was opened without the order to send again")
		}
	})
}

// bootTime is the clock that the quarantine counts by.
func bootTime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		panic(err)
	}
	return time.Duration(ts.Nano())
}

// C7, I14: a container with a time namespace of its own has the boot id of its host and another
// clock. What a process of the host knows of a doubt says nothing there: the quarantine is not
// over, and a process whose start counts from elsewhere is not gone.
func TestAnotherTimeNamespaceIsAnotherClock(t *testing.T) {
	t.Parallel()
	o := backends[0].empty(t)
	s := must.Get(Open(t.Context(), o))(t)
	t.Cleanup(func() { _ = s.Close() })
	lease := mustLease(t, s, "contracts")
	doubt(t, s, lease, mustRecord(t, s, lease, newEntry("a"))[0])
	if n, err := s.Watch(t.Context(), "contracts", sqldb.Self().Boot, bootTime()); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	owner := must.Get(json.Marshal(sqldb.Self()))(t)
	self := must.Get(os.Executable())(t)
	ahead := []string{"--time", "--boottime", "3600", self} // by more than the quarantine
	if os.Getuid() != 0 {
		ahead = append([]string{"--user", "--map-root-user"}, ahead...)
	}
	for want, cmd := range map[string]*exec.Cmd{
		// the same clock: known, and too early
		"known 1, goes false, parent gone false": exec.CommandContext(context.Background(), self),
		"known 0, goes false, parent gone false": exec.CommandContext(context.Background(), "unshare", ahead...),
	} {
		if got := startAs(t, cmd, "clock", o, nil,
			"SAFRASYNC_STATE_TEST_OWNER="+string(owner)).line(t); got != want {
			t.Errorf("%s: %q, want %q", strings.Join(cmd.Args, " "), got, want)
		}
	}
	if got := mustEntry(t, s, "contracts", "a"); got.Generation != 1 {
		t.Errorf("generation %d", got.Generation)
	}
}
