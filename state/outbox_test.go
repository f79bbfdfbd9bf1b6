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
		quiet := &trade.Stop{Code: "interrupted"}
		for range 2 { // each run meets it, and it is told once
			must.Do(t, s.SetJobStatus(t.Context(), trade.JobStatus{Job: "contracts", State: trade.Running, Since: at}))
			must.Do(t, s.SetJobStatus(t.Context(),
				trade.JobStatus{Job: "contracts", State: trade.Stopped, Stop: stop, Since: at}))
			must.Do(t, s.SetJobStatus(t.Context(),
				trade.JobStatus{Job: "contracts", State: trade.Stopped, Stop: quiet}))
		}
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
		must.Do(t, s.SetJobStatus(t.Context(), trade.JobStatus{Job: "contracts", State: trade.Idle, Since: at}))
		must.Do(t, s.SetJobStatus(t.Context(), trade.JobStatus{Job: "contracts", State: trade.Stopped, Stop: stop}))
		if again := toldOf(t, s, "all")[len(got):]; !slices.Equal(again, []string{"job.stopped  stopped api_key "}) {
			t.Errorf("after a run that ended well the same stop is told as %v", again)
		}
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
			must.Do(t, tx.Do(`UPDATE job_status SET state = 'stopped', told = 'erp' WHERE job = 'contracts'`))
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

// Between the plan to deliver events again and the act the service goes on: what arrived meanwhile stays,
// what the plan showed as delivered goes again, and an act that changes nothing leaves nothing behind.
func TestWhatArrivedSinceThePlanIsNotDeliveredAgain(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		es := mustRecord(t, s, lease, newEntry("a"), newEntry("b"), newEntry("c"))
		mustTell(t, s, trade.EventTarget{Name: "erp"})
		for i, end := range []string{"a", "b", "c"} {
			mustSettle(t, s, lease, created(mustSend(t, s, lease, es[i]), "0194f000-0000-7000-8000-00000000000"+end))
		}
		arrive := func(events ...trade.OutEvent) {
			t.Helper()
			for i := range events {
				events[i].DoneAt, events[i].Outcome = time.Now(), trade.EventDelivered
			}
			must.Do(t, s.SettleEvents(t.Context(), "erp", events, true, nil))
		}
		read := func() []trade.OutEvent {
			t.Helper()
			return must.Get(s.Outbox(t.Context(), trade.OutEventFilter{}))(t)
		}
		arrive(read()[0])
		plan := read() // c arrived, b and a wait
		arrive(read()[1])
		acts := len(must.Get(s.Audit(t.Context(), 0))(t))
		if n := must.Get(s.Redeliver(t.Context(), plan, anAct("events")))(t); n != 2 {
			t.Errorf("%d are delivered again", n)
		}
		var open []string
		for _, e := range must.Get(s.Outbox(t.Context(), trade.OutEventFilter{Open: true}))(t) {
			open = append(open, e.Key)
		}
		if !slices.Equal(open, []string{"c", "a"}) {
			t.Errorf("due are %v", open)
		}
		stale := read()[2:] // a waits
		arrive(read()[2])
		n := must.Get(s.Redeliver(t.Context(), stale, anAct("events")))(t)
		if after := len(must.Get(s.Audit(t.Context(), 0))(t)); n != 0 || after != acts+1 {
			t.Errorf("%d are delivered again, of which the audit has %d acts", n, after-acts)
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
			again         bool // somebody has them delivered again before
			gives, remain int
		}{
			{week - time.Second, false, 0, 2},
			{week + time.Second, false, 1, 1},
			{week + 2*time.Hour, true, 0, 1},
			{2 * week, false, 0, 1},
			{2*week + 3*time.Hour, false, 1, 1},
			{3 * week, false, 0, 1},
			{3*week + 3*time.Hour, false, 0, 0},
		} {
			now := all[0].At.Add(step.after)
			if step.again {
				act := anAct("events")
				act.At = now
				must.Get(s.Redeliver(t.Context(), must.Get(s.Outbox(t.Context(), trade.OutEventFilter{}))(t), act))(t)
			}
			n := must.Get(s.PruneOutbox(t.Context(), now, week))(t)
			left := must.Get(s.Outbox(t.Context(), trade.OutEventFilter{}))(t)
			if n != step.gives || len(left) != step.remain {
				t.Errorf("after %s: %d were given up, %+v", step.after, n, left)
			}
		}
	})
}

// What a program does not take keeps nothing else from it: the next event is due at once if the program
// answered, and comes before the other if it did not.
func TestWhatIsNotTakenKeepsNothingElseBack(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		es := mustRecord(t, s, lease, newEntry("a"), newEntry("b"))
		mustTell(t, s, trade.EventTarget{Name: "erp"})
		mustSettle(t, s, lease, created(mustSend(t, s, lease, es[0]), idA))
		now := time.Now()
		later := func(n int) time.Time { return now.Add(time.Duration(n) * time.Minute) }
		due := must.Get(s.DueOutbox(t.Context(), "erp", now, 8))(t)
		due[0].Tries, due[0].NextAt, due[0].Fault = 1, now.Add(time.Minute), "http_422"
		must.Do(t, s.SettleEvents(t.Context(), "erp", due, true, later))
		mustSettle(t, s, lease, created(mustSend(t, s, lease, es[1]), "0194f000-0000-7000-8000-00000000000b"))
		keys := func(now time.Time) (out string) {
			for _, e := range must.Get(s.DueOutbox(t.Context(), "erp", now, 8))(t) {
				out += e.Key
			}
			return out
		}
		if got := keys(now); got != "b" {
			t.Errorf("after a refusal there is due: %q", got)
		}
		must.Do(t, s.SettleEvents(t.Context(), "erp", due, false, later))
		if first, then := keys(now), keys(now.Add(time.Minute)); first != "" || then != "b" {
			t.Errorf("after no answer there is due: %q, then %q", first, then)
		}
	})
}

// Two services that change who is told at the same moment leave the triggers as they must be: the second
// one waits for the first.
func TestTwoServicesChangeWhoIsToldOneAfterTheOther(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		if s.db.D.Name == sqldb.SQLite {
			return // one service
		}
		mustTell(t, s, trade.EventTarget{Name: "old"})
		must.Do(t, s.db.InTx(t.Context(), "testing", func(tx *sqldb.Tx) error {
			return tx.Do(`UPDATE outbox_target SET wanted_at = wanted_at - 3600001`)
		}))
		done := make(chan error, 1)
		must.Do(t, s.db.InTx(t.Context(), "testing", func(tx *sqldb.Tx) error { // another service is adding one
			must.Do(t, aloneWithEntries(tx))
			must.Do(t, tx.Do(`INSERT INTO outbox_target (name, kinds, jobs, wanted_at) VALUES ('new', '', '', `+
				tx.S.D.Now+`)`))
			go func() { done <- s.Tell(t.Context(), nil) }()
			for waits := 0; waits == 0; {
				must.Do(t, tx.Get(&waits, `SELECT COUNT(*) FROM pg_locks WHERE NOT granted AND relation IN
					('entry'::regclass, 'outbox_target'::regclass)
					AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`))
				if len(done) > 0 {
					t.Fatal("it did not wait")
				}
			}
			return switchTriggers(tx, toldTriggers, `SELECT COUNT(*) FROM outbox_target`)
		}))
		must.Do(t, <-done)
		if off := must.Get(s.triggersOff(t.Context(), "testing", toldTriggers))(t); off {
			t.Error("somebody is to be told, and nothing writes it")
		}
	})
}

// The newest delivery, and the last fault of what has not arrived, of one target alone.
func TestTheLastDeliveryAndTheLastFaultOfATarget(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		mustTell(t, s, trade.EventTarget{Name: "a"}, trade.EventTarget{Name: "b"})
		last := func(target string, want trade.OutboxLast) {
			t.Helper()
			if diff := cmp.Diff(want, must.Get(s.OutboxLast(t.Context(), target))(t)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", target, diff)
			}
		}
		last("a", trade.OutboxLast{})
		for _, code := range []string{"api_key", "erp"} {
			must.Do(t, s.SetJobStatus(t.Context(), trade.JobStatus{
				Job: "contracts", State: trade.Stopped, Stop: &trade.Stop{Code: code}, Since: at,
			}))
		}
		events := must.Get(s.Outbox(t.Context(), trade.OutEventFilter{Target: "a"}))(t)
		if len(events) != 2 {
			t.Fatalf("%d events", len(events))
		}
		settle := func(e trade.OutEvent, minute int, outcome, fault string) {
			t.Helper()
			e.Tries, e.Outcome, e.Fault, e.NextAt = e.Tries+1, outcome, fault, at.Add(time.Duration(minute)*time.Minute)
			if outcome != "" {
				e.DoneAt = e.NextAt
			}
			must.Do(t, s.SettleEvents(t.Context(), "a", []trade.OutEvent{e}, true, nil))
		}
		settle(events[0], 1, "", "timeout")
		settle(events[1], 2, "", "http_503")
		last("a", trade.OutboxLast{Fault: "http_503"})
		settle(events[1], 3, trade.EventDelivered, "")
		last("a", trade.OutboxLast{DeliveredAt: at.Add(3 * time.Minute).UTC(), Fault: "timeout"})
		settle(events[0], 4, trade.EventDelivered, "")
		last("a", trade.OutboxLast{DeliveredAt: at.Add(4 * time.Minute).UTC()})
		last("b", trade.OutboxLast{})
	})
}

// Somebody changes which changes are kept while the ledger is rebuilt: of the two the second one waits
// for the first from its first step, and holds nothing that the first one needs.
func TestARebuildWaitsForWhoeverChangesTheFeedFromItsFirstStep(t *testing.T) {
	t.Parallel()
	o := backends[1].open(t)
	o.Journal = t.TempDir()
	s := mustOpen(t, o)
	must.Do(t, s.Feed(t.Context(), true))
	lease := mustLease(t, s, "contracts")
	mustRecord(t, s, lease, newEntry("a"))
	must.Do(t, s.ReleaseLease(t.Context(), lease))
	done := make(chan error, 1)
	must.Do(t, s.db.InTx(t.Context(), "testing", func(tx *sqldb.Tx) error {
		must.Do(t, aloneWithEntries(tx))
		go func() {
			_, err := Rebuild(t.Context(), o, nil, true, rebuildAct)
			done <- err
		}()
		for waits := 0; waits == 0; {
			must.Do(t, tx.Get(&waits, `SELECT COUNT(*) FROM pg_locks WHERE NOT granted AND relation = 'entry'::regclass
				AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`))
			if len(done) > 0 {
				t.Fatalf("it did not wait: %v", <-done)
			}
		}
		var feeds int
		return tx.Get(&feeds, `SELECT one FROM feed FOR UPDATE NOWAIT`)
	}))
	must.Do(t, <-done)
}
