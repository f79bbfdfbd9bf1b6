package state

import (
	"testing"

	"github.com/safrasync/safrasync/trade"
)

// A person's pause is stored although instances commit one after the other, and from then on none of them begins to send.
func TestAPauseStopsEveryInstance(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		mustBeat(t, s, onMachine("a"))
		helper := onMachine("b")
		mustBeat(t, s, helper)
		lease := mustLease(t, s, "contracts")
		es := mustRecord(t, s, lease, newEntry("a"), newEntry("b"), newEntry("c"))
		mustOffer(t, s, lease, true)
		// While somebody waits for the status, nothing is claimed, and nothing is said to be lost.
		mustExec(t, s, `UPDATE job_lease SET quiet = expires + 1000`)
		if res := mustCommit(t, s, lease, trade.Group{Intents: []trade.Intent{intentOf(es[0])}}); !res.Quiet || len(res.Claimed) > 0 || res.LeaseLost {
			t.Errorf("while it is quiet: %+v", res)
		}
		mustExec(t, s, `UPDATE job_lease SET quiet = 0`)
		pause := trade.JobStatus{Job: "contracts", State: trade.Paused, Since: at, Stop: &trade.Stop{Code: "paused", Text: "closing of the month"}}
		done, err := s.Act(t.Context(), []trade.Act{{Job: &trade.JobAct{Job: "contracts", Status: pause}, Audit: anAct("contracts")}})
		if err != nil || !done[0] {
			t.Fatalf("pause: %v, %v", done, err)
		}
		for name, l := range map[string]trade.Lease{"holder": lease, "hand": handOf(lease, helper)} {
			if res := mustCommit(t, s, l, trade.Group{Intents: []trade.Intent{intentOf(es[1])}}); !res.Paused || res.Quiet || len(res.Claimed) > 0 {
				t.Errorf("the %s: %+v", name, res)
			}
		}
	})
}

// A renewal waits for no commit, and a takeover for all that was begun under the lease: on PostgreSQL several transactions hold it at once.
func TestARenewalDoesNotWaitForCommits(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, backends[1].open(t))
	lease := mustLease(t, s, "contracts")
	held := make(chan struct{})
	release := make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- s.inTx(t.Context(), "a commit that takes long", func(t *tx) error {
			if _, err := fence(t, lease); err != nil {
				return err
			}
			close(held)
			<-release
			return nil
		})
	}()
	<-held
	if err := s.RenewLease(t.Context(), lease); err != nil {
		t.Errorf("RenewLease beside a commit: %v", err)
	}
	mustRecord(t, s, lease, newEntry("a")) // another that is fenced by it
	expire(t, s, "contracts")
	taken := make(chan error, 1)
	go func() {
		_, err := s.AcquireLease(t.Context(), "contracts", onMachine("b"))
		taken <- err
	}()
	waitFor(t, "the takeover waits for the commit", func() bool {
		var n int
		if err := s.read.Get(&n, `SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%job_lease%'`); err != nil {
			t.Fatal(err)
		}
		return n == 1
	})
	close(release)
	for _, c := range []chan error{done, taken} {
		if err := <-c; err != nil {
			t.Error(err)
		}
	}
}
