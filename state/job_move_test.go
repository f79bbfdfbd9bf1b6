package state

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

var moveAct = trade.AuditRecord{At: at, Who: "ana", From: "ana@srv", Act: "job move", Reason: "it has another name now"}

func mustMove(t testing.TB, s *Store, from, to string) trade.JobMove {
	t.Helper()
	return must.Get(s.MoveJob(t.Context(), from, to, true, moveAct))(t)
}

// sentJob makes a job with an accepted row, one in doubt, a refused and a pending one.
func sentJob(t testing.TB, s *Store, job string, keys ...string) {
	t.Helper()
	lease := mustLease(t, s, job)
	var fresh []trade.Entry
	for _, key := range keys {
		fresh = append(fresh, newEntry(key))
	}
	rows := mustRecord(t, s, lease, fresh...)
	settle := []func(a trade.Attempt) trade.Settlement{
		func(a trade.Attempt) trade.Settlement { return created(a, "remote-"+job) }, unknown, refused,
	}
	for i, how := range settle {
		mustSettle(t, s, lease, how(mustSend(t, s, lease, rows[i])))
	}
	cursor := trade.Cursor{
		Bound: "b-" + job, SweptAt: at,
		Brakes: trade.Memory{Passed: rows[len(rows)-1].ID, Identity: &trade.Identity{Key: []string{"num"}}},
	}
	must.Get(s.Record(t.Context(), lease, trade.Page{Cursor: &cursor}))(t)
	must.Do(t, s.StartRun(t.Context(), trade.RunReport{ID: "run-" + job, Job: job, StartedAt: at}))
	must.Do(t, s.ReleaseLease(t.Context(), lease))
}

// F054: What an earlier lease of the same process left in flight is in doubt under the new name.
func TestARowThatALeaseLeftInFlightIsInDoubtUnderTheNewNameOfItsJob(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "a")
		mustSend(t, s, lease, mustRecord(t, s, lease, newEntry("1"))[0])
		must.Do(t, s.ReleaseLease(t.Context(), lease))
		mustMove(t, s, "a", "b")
		next := must.Get(s.AcquireLease(t.Context(), "b", lease.Owner))(t)
		if n := must.Get(s.Recover(t.Context(), next, at))(t); n != 1 {
			t.Errorf("%d rows are in doubt", n)
		}
		if states := statesOf(t, s, "b"); states["1"] != trade.InDoubt {
			t.Errorf("states %v", states)
		}
	})
}

// The entries of a job follow its new name, with all that belongs to them; two jobs can become
// one.
func TestTheEntriesOfAJobFollowItsNewName(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		sentJob(t, s, "a", "1", "2", "3", "4")
		sentJob(t, s, "b", "5", "6", "7", "8")
		planned, err := s.MoveJob(t.Context(), "a", "c", false, trade.AuditRecord{})
		if err != nil || planned.Entries != 4 {
			t.Fatalf("%+v, %v", planned, err)
		}
		if have := statesOf(t, s, "a"); len(have) != 4 {
			t.Fatalf("a plan moved rows: %v", have)
		}
		want := trade.JobMove{
			From: "a", To: "c", Sends: trade.OrderCommitments, Entries: 4, Samples: []string{},
			States: map[trade.State]int{trade.Accepted: 1, trade.InDoubt: 1, trade.Rejected: 1, trade.Pending: 1},
		}
		if diff := cmp.Diff(want, mustMove(t, s, "a", "c")); diff != "" {
			t.Errorf("plan (-want +got):\n%s", diff)
		}
		mustMove(t, s, "b", "c")
		for _, job := range []string{"a", "b"} {
			if have, err := s.Counts(t.Context(), job); err != nil || len(have) != 0 {
				t.Errorf("job %s has %v, %v", job, have, err)
			}
		}
		mustAddUp(t, s, "c")
		states := statesOf(t, s, "c")
		if len(states) != 8 || states["1"] != trade.Accepted || states["6"] != trade.InDoubt {
			t.Errorf("states %v", states)
		}
		if attempts, err := s.Attempts(t.Context(), mustEntry(t, s, "c", "3").ID); err != nil || len(attempts) != 1 {
			t.Errorf("attempts %+v, %v", attempts, err)
		}
		cursor, err := s.Cursor(t.Context(), "c")
		if err != nil || cursor.Bound != "b-a" || !cursor.SweptAt.IsZero() ||
			cursor.Brakes.Passed != mustEntry(t, s, "c", "8").ID {
			t.Errorf("cursor %+v, %v", cursor, err)
		}
		if runs, err := s.Runs(t.Context(), "c", 10); err != nil || len(runs) != 2 {
			t.Errorf("runs %+v, %v", runs, err)
		}
		if known, err := s.JobsOfLedger(t.Context()); err != nil || len(known) != 1 || known[0].Job != "c" ||
			known[0].Accepted != 2 {
			t.Errorf("%+v, %v", known, err)
		}
		audit, err := s.Audit(t.Context(), 0)
		if err != nil || len(audit) != 2 || audit[0].Act != "job move" || audit[0].Target != "b c" ||
			audit[0].Reason == "" {
			t.Errorf("audit %+v, %v", audit, err)
		}
		if err := byHand(s, `UPDATE entry SET job = 'd', version = version + 1 WHERE key = '1'`); err != nil {
			t.Error(err) // the act stands at the end of the audit
		}
		must.Do(t, s.AppendAudit(t.Context(),
			trade.AuditRecord{At: at, Who: "ana", Act: "other", Target: "x"}))
		if err := byHand(s, `UPDATE entry SET job = 'c', version = version + 1 WHERE key = '1'`); err == nil {
			t.Error("an entry went to another job without an act")
		}
	})
}

// Of which the platform says that it has it, that row never gives way to one that was not sent.
func TestARowThatThePlatformSaysExistsDoesNotGiveWayToAnother(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "a")
		mustRecord(t, s, lease, newEntry("1"))
		must.Do(t, s.ReleaseLease(t.Context(), lease))
		lease = mustLease(t, s, "b")
		row := mustRecord(t, s, lease, newEntry("1"))[0]
		held := refused(mustSend(t, s, lease, row))
		held.State, held.Cause = trade.Held, trade.CauseExists
		mustSettle(t, s, lease, held)
		must.Do(t, s.ReleaseLease(t.Context(), lease))
		if plan := mustMove(t, s, "a", "b"); plan.Replaced != 0 || plan.Left != 1 {
			t.Errorf("%+v", plan)
		}
		if e := mustEntry(t, s, "b", "1"); e.State != trade.Held || e.Cause != trade.CauseExists {
			t.Errorf("it is %s (%s)", e.State, e.Cause)
		}
	})
}

// Of two rows with one key the one that was never sent gives way, and is not lost; where both were
// sent nothing moves.
func TestOfTwoRowsWithOneKeyTheOneThatWasNeverSentGivesWay(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		sentJob(t, s, "a", "1", "2", "3", "4", "5")
		lease := mustLease(t, s, "b")
		held := newEntry("1")
		held.State, held.Cause = trade.Held, trade.CauseOtherJob
		rows := mustRecord(t, s, lease, held, newEntry("3"), newEntry("4"), newEntry("9"))
		mustSettle(t, s, lease, created(mustSend(t, s, lease, rows[2]), "remote-4"))
		if _, err := s.MoveJob(t.Context(), "a", "b", true, moveAct); !errors.As(err, new(*trade.LeasedError)) {
			t.Errorf("a job that is run: %v", err)
		}
		must.Do(t, s.ReleaseLease(t.Context(), lease))
		plan := mustMove(t, s, "a", "b")
		if plan.Replaced != 2 || plan.Left != 1 || plan.Entries != 4 || plan.Collisions != 0 {
			t.Errorf("%+v", plan)
		}
		mustAddUp(t, s, "a")
		mustAddUp(t, s, "b")
		if diff := cmp.Diff(map[string]trade.State{"1": trade.Withdrawn, "3": trade.Withdrawn, "4": trade.Withdrawn},
			statesOf(t, s, "a")); diff != "" {
			t.Errorf("what gave way (-want +got):\n%s", diff)
		}
		want := map[string]trade.State{
			"1": trade.Accepted, "2": trade.InDoubt, "3": trade.Rejected,
			"4": trade.Accepted, "5": trade.Pending, "9": trade.Pending,
		}
		if diff := cmp.Diff(want, statesOf(t, s, "b")); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}

		lease = mustLease(t, s, "c") // a person has said that these are other records
		for i, e := range mustRecord(t, s, lease, newEntry("1"), newEntry("2"), newEntry("20"), newEntry("21")) {
			e.Another = e.PayloadHash
			mustSettle(t, s, lease, created(mustSend(t, s, lease, e), fmt.Sprint("remote-c", i)))
		}
		must.Do(t, s.ReleaseLease(t.Context(), lease))
		plan = mustMove(t, s, "c", "b")
		if plan.Collisions != 2 || !slices.Equal(plan.Samples, []string{"1", "2"}) || len(statesOf(t, s, "c")) != 4 {
			t.Errorf("%+v", plan)
		}
	})
}

// A pause goes with the job.
func TestAPauseGoesWithTheJob(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		status := func(job string, state trade.JobState, brake *trade.Brake) {
			t.Helper()
			must.Do(t, s.SetJobStatus(t.Context(),
				trade.JobStatus{
					Job: job, State: state, Since: at,
					Stop: &trade.Stop{Code: "x", Why: trade.Say("why", "job", job), Brake: brake},
				}))
		}
		is := func(job string, want trade.JobState) {
			t.Helper()
			if got, err := s.JobStatus(t.Context(), job); err != nil || got.State != want {
				t.Errorf("job %s is %+v, %v; want %s", job, got, err, want)
			}
		}
		sentJob(t, s, "a", "1", "2", "3", "4")
		sentJob(t, s, "b", "5", "6", "7", "8")
		status("c", trade.Paused, &trade.Brake{Job: "c", Former: []trade.KnownJob{{Job: "a"}, {Job: "b"}}})
		mustMove(t, s, "a", "c")
		is("c", trade.Paused) // the brake tells of b still
		mustMove(t, s, "b", "c")
		is("c", trade.Idle)
		status("c", trade.Paused, nil)
		mustMove(t, s, "c", "d")
		is("d", trade.Paused)
		is("c", trade.Idle)
		if got := must.Get(s.JobStatus(t.Context(), "d"))(t); got.Stop == nil || got.Stop.Why.Args["job"] != "d" {
			t.Errorf("the stop of a moved job tells of its former name: %+v", got.Stop)
		}
	})
}

// The journal knows where the entries of a job went: an older copy of the ledger, and a lost one,
// become what it was, also once the journal has begun again.
func TestF058ARebuildingKnowsWhereTheEntriesOfAJobWent(t *testing.T) {
	for _, renewed := range []bool{false, true} {
		t.Run(fmt.Sprint(renewed), func(t *testing.T) {
			k := sqliteKept(t)
			copies, steps := t.TempDir(), 0
			step := func() {
				t.Helper()
				must.Do(t, k.s.Backup(t.Context(), filepath.Join(copies, fmt.Sprint(steps))))
				steps++
			}
			step()
			sentJob(t, k.s, "a", "1", "2", "3", "4")
			step()
			lease := mustLease(t, k.s, "b")
			rows := mustRecord(t, k.s, lease, newEntry("1"), newEntry("4"), newEntry("9"))
			must.Do(t, k.s.ReleaseLease(t.Context(), lease))
			step()
			lease = mustLease(t, k.s, "b")
			mustSettle(t, k.s, lease, created(mustSend(t, k.s, lease, rows[1]), "remote-4"))
			must.Do(t, k.s.ReleaseLease(t.Context(), lease))
			step()
			mustMove(t, k.s, "a", "b")
			step()
			lease = mustLease(t, k.s, "b")
			mustSettle(t, k.s, lease, created(mustSend(t, k.s, lease, rows[2]), "remote-9"))
			must.Do(t, k.s.ReleaseLease(t.Context(), lease))
			step()
			mustMove(t, k.s, "b", "c")
			lease = mustLease(t, k.s, "a") // the name is used again
			mustSettle(t, k.s, lease, created(mustSend(t, k.s, lease,
				mustRecord(t, k.s, lease, newEntry("77"))[0]), "remote-77"))
			must.Do(t, k.s.ReleaseLease(t.Context(), lease))
			if renewed {
				r := &retaining{Store: k.s, Keep: Retention{Journal: 1}, Now: at}
				must.Do(t, r.beginAgain(t.Context()))
			}
			want := provenOf(t, k.s)
			if want["c 1"].State != trade.Accepted || want["c 2"].State != trade.InDoubt ||
				want["c 9"].State != trade.Accepted || want["a 77"].State != trade.Accepted {
				t.Fatalf("%+v", want)
			}
			dir := k.dir()
			k.close()
			whole := t.TempDir()
			must.Do(t, os.CopyFS(whole, os.DirFS(dir)))
			for n := -1; n < steps; n++ {
				must.Do(t, os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(whole)))
				removeLedger(t, k.o.DSN)
				if n >= 0 {
					copyFile(t, filepath.Join(copies, fmt.Sprint(n)), k.o.DSN)
				}
				k.noticedAndRebuilt(n, want, map[string]bool{})
				k.open()
				for _, job := range []string{"a", "b", "c"} {
					mustAddUp(t, k.s, job)
				}
				k.close()
			}
		})
	}
}

// A process that ends between journal and ledger leaves a move that is done at the next start.
func TestF054AMoveThatOnlyTheJournalKnowsIsDoneAtTheNextStart(t *testing.T) {
	journaled(t, func(t *testing.T, k *kept) {
		sentJob(t, k.s, "a", "1", "2", "3", "4")
		lease := mustLease(t, k.s, "b")
		mustRecord(t, k.s, lease, newEntry("1"))
		must.Do(t, k.s.ReleaseLease(t.Context(), lease))
		stop := errors.New("the process ends here")
		err := k.s.db.InTx(t.Context(), "testing", func(tx *sqldb.Tx) error {
			m := &jobMove{Tx: tx, From: "a", To: "b", Now: at, Sums: tallyChange{}}
			if err := errors.Join(m.Lock(), m.look(), m.Apply(moveAct)); err != nil {
				return err
			}
			if err := tx.WriteNote(); err != nil {
				return err
			}
			return stop
		})
		if !errors.Is(err, stop) {
			t.Fatal(err)
		}
		k.close()
		k.open()
		if diff := cmp.Diff(Opening{Acts: 1}, k.s.Opening()); diff != "" {
			t.Errorf("opening (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(map[string]trade.State{
			"1": trade.Accepted, "2": trade.InDoubt, "3": trade.Rejected,
			"4": trade.Pending,
		}, statesOf(t, k.s, "b")); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
		mustAddUp(t, k.s, "a")
		mustAddUp(t, k.s, "b")
		k.close()
		k.open()
		if k.s.Opening() != (Opening{}) {
			t.Errorf("settled twice: %+v", k.s.Opening())
		}
	})
}

// A copy from before a move may choose the other of two rows with one key, because it does not know
// yet what became of them. It becomes what the ledger was all the same.
func TestF058ACopyThatChoosesTheOtherOfTwoRowsIsRebuilt(t *testing.T) {
	k := sqliteKept(t)
	copies, steps := t.TempDir(), 0
	step := func() {
		t.Helper()
		must.Do(t, k.s.Backup(t.Context(), filepath.Join(copies, fmt.Sprint(steps))))
		steps++
	}
	in := func(job string, fn func(lease trade.Lease)) {
		t.Helper()
		lease := mustLease(t, k.s, job)
		fn(lease)
		must.Do(t, k.s.ReleaseLease(t.Context(), lease))
		step()
	}
	settle := func(lease trade.Lease, st trade.Settlement) {
		t.Helper()
		mustSettle(t, k.s, lease, st)
	}
	sentJob(t, k.s, "a", "1", "2", "3", "4")
	step()
	in("a", func(lease trade.Lease) { // the doubt of 2 ends: nothing was created
		attempts := must.Get(k.s.Attempts(t.Context(), mustEntry(t, k.s, "a", "2").ID))(t)
		settle(lease, refused(attempts[0]))
	})
	var rows []trade.Entry
	in("b", func(lease trade.Lease) { rows = mustRecord(t, k.s, lease, newEntry("2"), newEntry("3"), newEntry("4")) })
	for i, key := range []string{"2", "3"} {
		in("b", func(lease trade.Lease) { settle(lease, created(mustSend(t, k.s, lease, rows[i]), "remote-b"+key)) })
	}
	var doubt trade.Attempt
	in("b", func(lease trade.Lease) {
		doubt = mustSend(t, k.s, lease, rows[2])
		settle(lease, unknown(doubt))
	})
	in("b", func(lease trade.Lease) { settle(lease, refused(doubt)) })
	in("a", func(lease trade.Lease) {
		settle(lease, created(mustSend(t, k.s, lease, mustEntry(t, k.s, "a", "4")), "remote-a4"))
	})
	if plan := mustMove(t, k.s, "a", "b"); plan.Replaced != 1 || plan.Left != 2 {
		t.Fatalf("%+v", plan)
	}
	step()
	in("b", func(lease trade.Lease) {
		settle(lease, created(mustSend(t, k.s, lease, mustRecord(t, k.s, lease, newEntry("9"))[0]), "remote-9"))
	})
	want := provenOf(t, k.s)
	for _, key := range []string{"b 1", "b 2", "b 3", "b 4", "b 9"} {
		if want[key].State != trade.Accepted {
			t.Fatalf("%s: %+v", key, want)
		}
	}
	dir := k.dir()
	k.close()
	whole := t.TempDir()
	must.Do(t, os.CopyFS(whole, os.DirFS(dir)))
	for n := range steps - 1 {
		must.Do(t, os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(whole)))
		removeLedger(t, k.o.DSN)
		copyFile(t, filepath.Join(copies, fmt.Sprint(n)), k.o.DSN)
		k.noticedAndRebuilt(n, want, map[string]bool{})
		k.open()
		for _, job := range []string{"a", "b"} {
			mustAddUp(t, k.s, job)
		}
		k.close()
	}
}
