package state

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

func TestALeaseHasOneOwner(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		if lease.Epoch != 1 || lease.Owner != sqldb.Self() {
			t.Errorf("lease: %+v", lease)
		}
		_, err := s.AcquireLease(t.Context(), "contracts", sqldb.Self())
		var leased *trade.LeasedError
		if !errors.As(err, &leased) || leased.Owner != sqldb.Self() || leased.Job != "contracts" ||
			leased.Until.IsZero() {
			t.Errorf("a second time: %v", err)
		}
		mustLease(t, s, "deliveries")
		if err := s.RenewLease(t.Context(), lease); err != nil {
			t.Errorf("RenewLease: %v", err)
		}
		if err := s.ReleaseLease(t.Context(), lease); err != nil {
			t.Errorf("ReleaseLease: %v", err)
		}
		if err := s.RenewLease(t.Context(), lease); !errors.Is(err, trade.ErrLeaseLost) {
			t.Errorf("RenewLease after the release: %v", err)
		}
		next := mustLease(t, s, "contracts")
		if next.Epoch != 2 {
			t.Errorf("epoch = %d, want 2", next.Epoch)
		}
		if err := s.ReleaseLease(t.Context(), lease); err != nil {
			t.Errorf("releasing the old lease: %v", err)
		}
		if err := s.RenewLease(t.Context(), next); err != nil {
			t.Errorf("the old owner's release took the new lease: %v", err)
		}
	})
}

// F062: two that serve one ledger never have the same job; the second takes it over when the lease
// of the first has ended.
func TestF062ALeaseEndsByTimeForAnOwnerElsewhere(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		elsewhere := trade.Owner{
			Instance: sqldb.NewID(), Host: "other", Boot: "another-boot", PIDSpace: "pid:[1]",
			PID: 1 << 30, Started: "1",
		}
		old := must.Get(s.AcquireLease(t.Context(), "contracts", elsewhere))(t)
		var leased *trade.LeasedError
		if _, err := s.AcquireLease(t.Context(), "contracts", sqldb.Self()); !errors.As(err, &leased) ||
			leased.Owner != elsewhere {
			t.Fatalf("error = %v, want it leased: nobody here can know that the owner is gone", err)
		}
		expire(t, s, "contracts")
		if err := s.RenewLease(t.Context(), old); err != nil {
			t.Errorf("an expired lease that nobody took is still its owner's: %v", err)
		}
		expire(t, s, "contracts")
		if lease := mustLease(t, s, "contracts"); lease.Epoch != 2 {
			t.Errorf("epoch = %d, want 2", lease.Epoch)
		}
		if err := s.RenewLease(t.Context(), old); !errors.Is(err, trade.ErrLeaseLost) {
			t.Errorf("RenewLease of the old owner: %v", err)
		}
	})
}

func TestManyWhoWantOneLeaseGetItOnce(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		var won, refused atomic.Int32
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				owner := sqldb.Self()
				owner.Instance = sqldb.NewID()
				_, err := s.AcquireLease(t.Context(), "contracts", owner)
				var leased *trade.LeasedError
				switch {
				case err == nil:
					won.Add(1)
				case errors.As(err, &leased):
					refused.Add(1)
				default:
					t.Errorf("AcquireLease: %v", err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 || refused.Load() != 15 {
			t.Errorf("%d won and %d were refused, want 1 and 15", won.Load(), refused.Load())
		}
	})
}

func TestF061ManyProcessesThatWantOneLeaseGetItOnce(t *testing.T) {
	t.Parallel()
	o := backends[0].empty(t)
	var processes []*process
	for range 6 {
		processes = append(processes, startChild(t, "race", o, nil))
	}
	count := map[string]int{}
	for _, p := range processes {
		count[p.line(t)]++ // none ends before all have spoken: a dead owner's lease would be free
	}
	if count["won 1"] != 1 || count["leased"] != 5 {
		t.Errorf("the processes say %v, want one winner", count)
	}
}

func TestALeaseOfAKilledProcessIsFreeAtOnce(t *testing.T) {
	t.Parallel()
	o := backends[0].open(t)
	s := mustOpen(t, o)
	p := startChild(t, "lease", o, nil)
	if got := p.line(t); got != "ready" {
		t.Fatalf("the process says %q", got)
	}
	_, err := s.AcquireLease(t.Context(), "contracts", sqldb.Self())
	var leased *trade.LeasedError
	if !errors.As(err, &leased) || leased.Owner.PID != p.cmd.Process.Pid {
		t.Fatalf("error = %v, want it leased by process %d", err, p.cmd.Process.Pid)
	}
	p.kill(t)
	if lease := mustLease(t, s, "contracts"); lease.Epoch != 2 {
		t.Errorf("epoch = %d, want 2", lease.Epoch)
	}
}

func TestOnlyProofEndsALeaseBeforeItsTime(t *testing.T) {
	t.Parallel()
	self := sqldb.Self()
	if self.Boot == "" || self.PIDSpace == "" || self.Started == "" || self.Host == "" || self.Instance == "" {
		t.Fatalf("this process cannot be told from others: %+v", self)
	}
	cmd := exec.CommandContext(t.Context(), "true")
	must.Do(t, cmd.Run())
	sleeper := exec.CommandContext(context.Background(), "sleep", "600")
	must.Do(t, sleeper.Start())
	t.Cleanup(func() {
		if sleeper.ProcessState == nil {
			_ = sleeper.Process.Kill()
			_ = sleeper.Wait()
		}
	})
	started, running := sqldb.ProcessStart(sleeper.Process.Pid)
	if !running || started == "" {
		t.Fatalf("processStart = %q, %v", started, running)
	}
	as := func(change func(*trade.Owner)) trade.Owner {
		owner := self
		change(&owner)
		return owner
	}
	for _, c := range []struct {
		name  string
		owner trade.Owner
		want  bool
	}{
		{"this process", self, false},
		{"a number that is free", as(func(o *trade.Owner) { o.PID = cmd.Process.Pid }), true},
		{"a later process with the same number", as(func(o *trade.Owner) { o.Started = "1" }), true},
		{
			"another process that runs", as(func(o *trade.Owner) { o.PID, o.Started = sleeper.Process.Pid, started }),
			false,
		},
		{"process 1 started at another time", as(func(o *trade.Owner) { o.PID = 1 }), true},
		{"another boot", as(func(o *trade.Owner) { o.Boot, o.PID = "x", cmd.Process.Pid }), false},
		{"another PID space", as(func(o *trade.Owner) { o.PIDSpace, o.PID = "x", cmd.Process.Pid }), false},
		{"no boot id", as(func(o *trade.Owner) { o.Boot, o.PID = "", cmd.Process.Pid }), false},
		{"no number", as(func(o *trade.Owner) { o.PID = 0 }), false},
	} {
		if got := sqldb.OwnerEnded(c.owner); got != c.want {
			t.Errorf("%s: gone = %v, want %v", c.name, got, c.want)
		}
	}
	// One that has ended and was not collected by its parent is gone too.
	must.Do(t, sleeper.Process.Kill())
	waitFor(t, "the killed process is a zombie", func() bool {
		return sqldb.OwnerEnded(as(func(o *trade.Owner) { o.PID, o.Started = sleeper.Process.Pid, started }))
	})
	if strings.Contains(fmt.Sprint(self), "\n") {
		t.Errorf("owner %v has a line break", self)
	}
}
