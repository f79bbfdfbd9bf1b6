package state

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

func mustTell(t testing.TB, s *Store, targets ...trade.EventTarget) {
	t.Helper()
	must.Do(t, s.Tell(t.Context(), targets))
}

// toldOf returns what a target is to be told, as "kind key state cause id", the oldest first.
func toldOf(t testing.TB, s *Store, target string) (out []string) {
	t.Helper()
	for _, e := range slices.Backward(must.Get(s.Outbox(t.Context(), trade.OutEventFilter{Target: target}))(t)) {
		out = append(out, fmt.Sprintf("%s %s %s %s %s", e.Kind, e.Key, e.State, e.Cause, e.RemoteID))
	}
	return out
}

const idA = "0194f000-0000-7000-8000-00000000000a"

// Each change is told to those who asked for it, in its own transaction; without a target, and of a
// change that was rolled back, nothing is.
func TestAChangeIsToldWithItsTransaction(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		es := mustRecord(t, s, lease, newEntry("a"), newEntry("b"), newEntry("c"), newEntry("d"))
		mustSettle(t, s, lease, created(mustSend(t, s, lease, es[3]), "0194f000-0000-7000-8000-00000000000d"))
		mustTell(t, s)
		mustTell(t, s, trade.EventTarget{Name: "all"},
			trade.EventTarget{Name: "doubts", Kinds: []string{"doubt.raised", "doubt.settled"}},
			trade.EventTarget{Name: "other", Jobs: []string{"deliveries"}})
		doubt := mustSend(t, s, lease, es[1])
		mustSettle(t, s, lease, created(mustSend(t, s, lease, es[0]), idA), unknown(doubt))
		mustSettle(t, s, lease, refused(mustSend(t, s, lease, es[2])))
		mustSettle(t, s, lease, created(doubt, "0194f000-0000-7000-8000-00000000000b"))
		must.Do(t, s.SetJobStatus(t.Context(), trade.JobStatus{Job: "contracts", State: trade.Running, Since: at}))
		stop := &trade.Stop{Code: "api_key", Why: trade.Say("stop.api_key")}
		for range 2 { // it is told once
			must.Do(t, s.SetJobStatus(t.Context(),
				trade.JobStatus{Job: "contracts", State: trade.Stopped, Stop: stop, Since: at}))
		}
		quiet := &trade.Stop{Code: "interrupted"}
		must.Do(t, s.SetJobStatus(t.Context(), trade.JobStatus{Job: "contracts", State: trade.Stopped, Stop: quiet}))
		must.Do(t, s.SetJobStatus(t.Context(), trade.JobStatus{Job: "deliveries", State: trade.Stopped, Stop: stop}))
		refusal := mustEntry(t, s, "contracts", "c").Cause
		want := []string{
			"row.accepted a accepted  " + idA, "doubt.raised b in_doubt unknown ",
			"row.refused c rejected " + refusal + " ",
			"doubt.settled b accepted  0194f000-0000-7000-8000-00000000000b",
			"row.accepted b accepted  0194f000-0000-7000-8000-00000000000b",
			"job.stopped  stopped api_key ", "job.stopped  stopped api_key ",
		}
		got := toldOf(t, s, "all")
		slices.Sort(got[:2]) // two of one transaction
		slices.Sort(want[:2])
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
		if got := toldOf(t, s, "doubts"); len(got) != 2 {
			t.Errorf("the target for doubts is told %v", got)
		}
		if got := toldOf(t, s, "other"); len(got) != 1 {
			t.Errorf("the target for another job is told %v", got)
		}

		before := len(toldOf(t, s, "all"))
		e := mustEntry(t, s, "contracts", "c")
		e.State, e.Flags = trade.Dismissed, nil
		failed := s.db.InTx(t.Context(), "testing", func(tx *sqldb.Tx) error {
			must.Do(t, tx.Do(`UPDATE entry SET state = 'in_doubt', version = version + 1 WHERE key = 'd' AND 1 = 0`))
			must.Do(t, tx.Do(`UPDATE job_status SET state = 'running' WHERE job = 'contracts'`))
			must.Do(t, tx.Do(`UPDATE job_status SET state = 'stopped', stop = '{"code":"erp"}' WHERE job = 'contracts'`))
			return trade.ErrNotFound
		})
		if failed == nil || len(toldOf(t, s, "all")) != before {
			t.Errorf("a change that was rolled back is told: %v", toldOf(t, s, "all")[before:])
		}
	})
}

// Who is no longer wanted is told nothing: with SQLite at once, with PostgreSQL, whose services may read
// another configuration, after an hour.
func TestWhoIsNotWantedIsToldNothing(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		es := mustRecord(t, s, lease, newEntry("a"), newEntry("b"))
		mustTell(t, s, trade.EventTarget{Name: "erp"})
		mustSettle(t, s, lease, created(mustSend(t, s, lease, es[0]), idA))
		if s.db.D.Name == sqldb.Postgres {
			mustTell(t, s)
			if states := must.Get(s.OutboxStates(t.Context()))(t); len(states) != 1 {
				t.Fatalf("another service ended it at once: %+v", states)
			}
			must.Do(t, s.db.InTx(t.Context(), "testing", func(tx *sqldb.Tx) error {
				return tx.Do(`UPDATE outbox_target SET wanted_at = wanted_at - 3600001`)
			}))
		}
		mustTell(t, s)
		mustSettle(t, s, lease, created(mustSend(t, s, lease, es[1]), "0194f000-0000-7000-8000-00000000000b"))
		all := must.Get(s.Outbox(t.Context(), trade.OutEventFilter{}))(t)
		if len(all) != 1 || all[0].Outcome != trade.EventGivenUp {
			t.Errorf("events: %+v", all)
		}
		off := must.Get(s.triggersOff(t.Context(), "testing", toldTriggers))(t)
		if s.db.D.Name == sqldb.Postgres && !off {
			t.Error("a row still costs something")
		}
	})
}

// A later event of a row waits for the earlier one, and those of other rows do not; while nothing
// arrives one is tried; one process at a time delivers.
func TestEventsOfARowAreDueInTheirOrder(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		es := mustRecord(t, s, lease, newEntry("a"), newEntry("b"))
		mustTell(t, s, trade.EventTarget{Name: "erp"})
		a, b := mustSend(t, s, lease, es[0]), mustSend(t, s, lease, es[1])
		mustSettle(t, s, lease, unknown(a))
		mustSettle(t, s, lease, created(a, idA))
		mustSettle(t, s, lease, created(b, "0194f000-0000-7000-8000-00000000000b"))
		now := time.Now()
		due := func(now time.Time) string {
			t.Helper()
			var out []string
			for _, e := range must.Get(s.DueOutbox(t.Context(), "erp", now, 10))(t) {
				out = append(out, string(e.Kind)+" "+e.Key)
			}
			return fmt.Sprint(out)
		}
		if got := due(now); got != "[doubt.raised a row.accepted b]" {
			t.Fatalf("due: %s", got)
		}
		first := must.Get(s.DueOutbox(t.Context(), "erp", now, 10))(t)
		first[0].Tries, first[0].NextAt, first[0].Fault = 1, now.Add(time.Minute), "http_500"
		first[1].DoneAt, first[1].Outcome = now, trade.EventDelivered
		must.Do(t, s.SettleEvents(t.Context(), "erp", first, true, nil))
		if got := due(now); got != "[]" {
			t.Errorf("while the first of a row waits, due: %s", got)
		}
		if got := due(now.Add(time.Minute)); got != "[doubt.raised a]" {
			t.Errorf("due: %s", got)
		}
		first[0].DoneAt, first[0].Outcome = now, trade.EventDelivered
		must.Do(t, s.SettleEvents(t.Context(), "erp", first[:1], true, nil))
		if got := due(now); got != "[doubt.settled a]" {
			t.Errorf("due: %s", got)
		}
		again := must.Get(s.Redeliver(t.Context(), first[1:], anAct("events")))(t)
		if got := due(now); again != 1 || got != "[doubt.settled a row.accepted b]" {
			t.Errorf("delivered again: %d, due: %s", again, got)
		}
		must.Do(t, s.SettleEvents(t.Context(), "erp", nil, false,
			func(n int) time.Time { return now.Add(time.Duration(n) * time.Minute) }))
		if got := due(now.Add(time.Minute)); due(now) != "[]" || got != "[doubt.settled a]" {
			t.Errorf("while nothing arrives: %s, then %s", due(now), got)
		}

		if taken := must.Get(s.TakeTarget(t.Context(), "erp", time.Minute))(t); !taken {
			t.Error("nobody has it, and it was not taken")
		}
		if taken := must.Get(s.TakeTarget(t.Context(), "erp", time.Minute))(t); !taken {
			t.Error("its own owner cannot take it again")
		}
		hold := func(owner string, left time.Duration) {
			t.Helper()
			must.Do(t, s.db.InTx(t.Context(), "testing", func(tx *sqldb.Tx) error {
				return tx.Do(`UPDATE outbox_target SET owner = ?, expires = `+tx.S.D.Now+` + ?`, owner,
					left.Milliseconds())
			}))
		}
		hold(`{"host":"elsewhere"}`, time.Minute)
		if taken := must.Get(s.TakeTarget(t.Context(), "erp", time.Minute))(t); taken {
			t.Error("taken from a living one")
		}
		hold(`{"host":"elsewhere"}`, 0)
		if taken := must.Get(s.TakeTarget(t.Context(), "erp", time.Minute))(t); !taken {
			t.Error("not taken from a dead one")
		}
	})
}

// What nobody takes for a week is given up and then removed, so that the ledger does not grow for ever.
func TestOldEventsAreGivenUpAndRemoved(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		es := mustRecord(t, s, lease, newEntry("a"), newEntry("b"))
		mustTell(t, s, trade.EventTarget{Name: "erp"})
		mustSettle(t, s, lease, created(mustSend(t, s, lease, es[0]), idA),
			created(mustSend(t, s, lease, es[1]), "0194f000-0000-7000-8000-00000000000b"))
		all := must.Get(s.Outbox(t.Context(), trade.OutEventFilter{}))(t)
		all[0].DoneAt, all[0].Outcome = all[0].At, trade.EventDelivered
		must.Do(t, s.SettleEvents(t.Context(), "erp", all[:1], true, nil))
		week := 7 * 24 * time.Hour
		for _, step := range []struct {
			after         time.Duration
			gives, remain int
		}{{week - time.Second, 0, 2}, {week + time.Second, 1, 1}, {2*week + time.Second, 0, 0}} {
			n := must.Get(s.PruneOutbox(t.Context(), all[0].At.Add(step.after), week))(t)
			left := must.Get(s.Outbox(t.Context(), trade.OutEventFilter{}))(t)
			if n != step.gives || len(left) != step.remain {
				t.Errorf("after %s: %d were given up, %+v", step.after, n, left)
			}
		}
	})
}
