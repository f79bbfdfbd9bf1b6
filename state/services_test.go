package state

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

func TestWhoServesTheLedgerIsKnownUntilItLeavesOrDies(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		since := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
		services := func() []Service {
			t.Helper()
			return must.Get(s.Services(t.Context()))(t)
		}
		if got := services(); len(got) != 0 {
			t.Fatalf("an empty ledger is served by %+v", got)
		}
		mustExec(t, s,
			`INSERT INTO service (instance, owner, version, since, seen) VALUES ('old', '{"instance":"old","host":"elsewhere"}', '0.1', 5, 7)`)
		if got := services(); len(got) != 1 || !got[0].Dead || got[0].Owner.Host != "elsewhere" {
			t.Fatalf("a silent service: %+v", got)
		}
		must.Do(t, s.Announce(t.Context(), "1.2", since))
		got := services()
		if len(got) != 1 || got[0].Dead || got[0].Version != "1.2" || !got[0].Since.Equal(since) ||
			got[0].Owner != sqldb.Self() {
			t.Fatalf("the announced service: %+v", got)
		}
		mustExec(t, s, `UPDATE service SET seen = 7`)
		if !services()[0].Dead {
			t.Error("a service that says nothing for years counts as alive")
		}
		if err := s.StillServing(t.Context(), time.Now(), time.Hour); err != nil || services()[0].Dead {
			t.Errorf("a service that goes on counts as dead, or %v", err)
		}
		if err := s.Withdraw(t.Context()); err != nil || len(services()) != 0 {
			t.Errorf("the service is still there, or %v", err)
		}
	})
}

// A service that was killed in a container: its process id means nothing in the next one, and the kernel
// is the same. It is dead when another one serves the ledger's file, or when its time as an instance is over.
func TestAServiceOfAnotherContainerIsNotSaidToRunBesideTheNextOne(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		killed := sqldb.Self()
		killed.Instance, killed.PIDSpace = sqldb.NewID(), "pid:[1]"
		mustBeat(t, s, killed)
		mustExec(t, s, fmt.Sprintf(`INSERT INTO service (instance, owner, version, since, seen) VALUES ('%s', '%s', '1', 5, %s)`,
			killed.Instance, must.Get(json.Marshal(killed))(t), s.db.D.Now))
		if got := must.Get(s.Services(t.Context()))(t); len(got) != 1 || got[0].Dead {
			t.Fatalf("before it is known: %+v", got)
		}
		if s.db.D.Name == sqldb.Postgres {
			die(t, s, killed)
		}
		must.Do(t, s.Announce(t.Context(), "1.2", at))
		if got := must.Get(s.Services(t.Context()))(t); len(got) != 1 || got[0].Owner != sqldb.Self() {
			t.Errorf("beside the new one: %+v", got)
		}
	})
}

func TestATasksLastTimeIsKept(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		if at, err := s.LastTask(t.Context(), "digest"); err != nil || !at.IsZero() {
			t.Errorf("a task that never ran: %v, %v", at, err)
		}
		for _, want := range []time.Time{time.UnixMilli(1000).UTC(), time.UnixMilli(500).UTC()} {
			must.Do(t, s.TaskBegan(t.Context(), "digest", want))
			if at, err := s.LastTask(t.Context(), "digest"); err != nil || !at.Equal(want) {
				t.Errorf("it ran at %v, %v; want %v", at, err, want)
			}
		}
	})
}

// The signs of life of a ledger: which of them counts, and for how long. The limit is two hours, and
// five days after a `sync` that no service has followed.
func TestWhoeverGaveTheLastSignOfLife(t *testing.T) {
	const none = 100000 * time.Hour
	h := time.Hour
	for name, c := range map[string]struct {
		life, pass, sent time.Duration // how long ago
		absent           bool
	}{
		"a ledger that nobody has used":                       {none, none, none, false},
		"a service, just now":                                 {h, none, none, false},
		"a service, before a night":                           {10 * h, none, none, true},
		"a service, and a pass of it":                         {10 * h, 10 * h, none, true},
		"a pass that a service did not follow":                {none, 10 * h, none, false},
		"a pass, long after a service":                        {500 * h, 10 * h, none, false},
		"a pass of a week ago":                                {none, 168 * h, none, true},
		"a pass of a week ago, and its last row":              {none, 168 * h, 167 * h, true},
		"a pass, and its last row":                            {none, 30 * h, 29 * h, false},
		"attempts without a sign: rebuilt, or an older image": {none, none, 3 * h, true},
		"attempts without a sign, just now":                   {none, none, h, false},
		"a service before a night, and another's attempts":    {10 * h, none, h, false},
		"a sign of a clock that was a year ahead":             {-8760 * h, none, 168 * h, true},
		"a pass of a clock that was a year ahead":             {10 * h, -8760 * h, none, true},
		"an attempt of a clock that was a year ahead":         {168 * h, none, -8760 * h, true},
		"everything of a clock that was a year ahead":         {-8760 * h, -8760 * h, -8760 * h, false},
		"a neighbour whose clock is a minute ahead":           {-h / 60, none, 168 * h, false},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, s *Store) {
				now := time.Now().UTC().Truncate(time.Millisecond)
				for sign, ago := range map[string]time.Duration{lifeTask: c.life, passTask: c.pass} {
					if ago != none {
						must.Do(t, s.TaskBegan(t.Context(), sign, now.Add(-ago)))
					}
				}
				if c.sent != none {
					lease := mustLease(t, s, "contracts")
					mustRecord(t, s, lease, newEntry("0001"))
					in := intentOf(mustEntry(t, s, "contracts", "0001"))
					in.Attempt.StartedAt = now.Add(-c.sent)
					mustCommit(t, s, lease, trade.Group{At: in.Attempt.StartedAt, Intents: []trade.Intent{in}})
					must.Do(t, s.ReleaseLease(t.Context(), lease))
				}
				must.Do(t, s.SignOfLife(t.Context(), []string{"deliveries"}, now, 2*time.Hour))
				for _, job := range []string{"deliveries", "one that is added later"} {
					status := must.Get(s.JobStatus(t.Context(), job))(t)
					if absent := status.State == trade.Paused; absent != c.absent {
						t.Errorf("%s is %s, absent: want %t", job, status.State, c.absent)
					}
				}
				// whatever it was, somebody lives now, and whoever is braked stays so
				must.Do(t, s.SignOfLife(t.Context(), []string{"deliveries"}, now.Add(time.Minute), 2*time.Hour))
				status := must.Get(s.JobStatus(t.Context(), "deliveries"))(t)
				if (status.State == trade.Paused) != c.absent {
					t.Errorf("a minute later deliveries are %s", status.State)
				}
			})
		})
	}
}

// The heartbeat of a service goes on with a sign of life, and makes none: an old image has it judged by
// its first pass.
func TestAHeartbeatJudgesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		ago   time.Duration
		moves bool
	}{
		"a minute ago":            {time.Minute, true},
		"a week ago":              {168 * time.Hour, false},
		"by a clock a year ahead": {-8760 * time.Hour, false},
		"never":                   {0, false},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, s *Store) {
				now := time.Now().UTC().Truncate(time.Millisecond)
				want := now.Add(-c.ago)
				if c.ago == 0 {
					want = time.Time{}
				} else {
					must.Do(t, s.TaskBegan(t.Context(), lifeTask, want))
				}
				if c.moves {
					want = now
				}
				must.Do(t, s.StillServing(t.Context(), now, 2*time.Hour))
				if at := must.Get(s.LastTask(t.Context(), lifeTask))(t); !at.Equal(want) {
					t.Errorf("the sign of life is of %v, want %v", at, want)
				}
			})
		})
	}
}
