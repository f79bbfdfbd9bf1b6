package state

import (
	"context"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// A person's pause is stored although the holder commits one group after the other, and from then
// on it begins to send nothing.
func TestAPauseIsStoredWhileTheHolderCommits(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		es := mustRecord(t, s, lease, newEntry("a"), newEntry("b"))
		mustSend(t, s, lease, es[0])
		stale := intentOf(es[0]) // it is sending already: the group asks for the status, and claims nothing
		first := make(chan struct{})
		done := make(chan error, 1)
		go func() {
			for n := 0; ; n++ {
				res, err := s.Commit(context.Background(), lease, trade.Group{At: at, Intents: []trade.Intent{stale}})
				if n == 0 {
					close(first)
				}
				if err != nil || res.Paused {
					done <- err
					return
				}
			}
		}()
		<-first
		pause := trade.JobStatus{
			Job: "contracts", State: trade.Paused, Since: at,
			Stop: &trade.Stop{Code: "paused", Why: trade.Say("closing of the month")},
		}
		acted, err := s.Act(t.Context(),
			[]trade.Act{{Job: &trade.JobAct{Job: "contracts", Status: pause}, Audit: anAct("contracts")}})
		if err != nil || !acted[0] {
			t.Errorf("pause: %v, %v", acted, err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if res := mustCommit(t, s, lease, trade.Group{Intents: []trade.Intent{intentOf(es[1])}}); !res.Paused ||
			len(res.Claimed) > 0 {
			t.Errorf("the holder: %+v", res)
		}
	})
}

// A renewal waits for no commit, and a takeover for all that was begun under the lease: on
// PostgreSQL several transactions hold it at once.
func TestARenewalDoesNotWaitForCommits(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, backends[1].open(t))
	lease := mustLease(t, s, "contracts")
	held := make(chan struct{})
	release := make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- s.db.InTx(t.Context(), "a commit that takes long", func(t *sqldb.Tx) error {
			if err := fence(t, lease); err != nil {
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
		must.Do(t, s.db.Read.Get(&n,
			`SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%job_lease%'`))
		return n == 1
	})
	close(release)
	for _, c := range []chan error{done, taken} {
		if err := <-c; err != nil {
			t.Error(err)
		}
	}
}
