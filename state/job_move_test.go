package state

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
		Brakes: trade.BrakeState{Passed: rows[len(rows)-1].ID, Identity: &trade.Identity{Key: []string{"num"}}},
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

// The entries of a job follow its new name, with all that belongs to them, and follow it back.
func TestTheEntriesOfAJobFollowItsNewName(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		sentJob(t, s, "a", "1", "2", "3", "4")
		planned, err := s.MoveJob(t.Context(), "a", "c", false, trade.AuditRecord{})
		if err != nil || planned.Entries != 4 {
			t.Fatalf("%+v, %v", planned, err)
		}
		if have := statesOf(t, s, "a"); len(have) != 4 {
			t.Fatalf("a plan moved rows: %v", have)
		}
		want := trade.JobMove{
			From: "a", To: "c", Sends: trade.OrderCommitments, Entries: 4,
			States: map[trade.State]int{trade.Accepted: 1, trade.InDoubt: 1, trade.Rejected: 1, trade.Pending: 1},
		}
		if diff := cmp.Diff(want, mustMove(t, s, "a", "c")); diff != "" {
			t.Errorf("plan (-want +got):\n%s", diff)
		}
		mustMove(t, s, "c", "a")
		mustAddUp(t, s, "a")
		mustMove(t, s, "a", "c")
		if have, err := s.Counts(t.Context(), "a"); err != nil || len(have) != 0 {
			t.Errorf("job a has %v, %v", have, err)
		}
		mustAddUp(t, s, "c")
		states := statesOf(t, s, "c")
		if len(states) != 4 || states["1"] != trade.Accepted || states["2"] != trade.InDoubt {
			t.Errorf("states %v", states)
		}
		if attempts, err := s.Attempts(t.Context(), mustEntry(t, s, "c", "3").ID); err != nil || len(attempts) != 1 {
			t.Errorf("attempts %+v, %v", attempts, err)
		}
		cursor, err := s.Cursor(t.Context(), "c")
		if err != nil || cursor.Bound != "b-a" || !cursor.SweptAt.IsZero() ||
			cursor.Brakes.Passed != mustEntry(t, s, "c", "4").ID {
			t.Errorf("cursor %+v, %v", cursor, err)
		}
		runs := must.Get(s.Runs(t.Context(), "c", 10))(t)
		runs = append(runs, must.Get(s.RunPage(t.Context(), "c", "", 1))(t).Runs...)
		runs = append(runs, must.Get(s.Run(t.Context(), "run-a"))(t))
		for _, run := range runs {
			if run.Job != "c" || len(runs) != 3 {
				t.Errorf("runs %+v", runs)
			}
		}
		if known, err := s.JobsOfLedger(t.Context()); err != nil || len(known) != 1 || known[0].Job != "c" ||
			known[0].Accepted != 1 {
			t.Errorf("%+v, %v", known, err)
		}
		audit, err := s.Audit(t.Context(), 0)
		if err != nil || len(audit) != 3 || audit[0].Act != "job move" || audit[0].Target != "a c" ||
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

// A job gets no name of which the ledger has rows, whatever became of them.
func TestAJobGetsNoNameOfWhichTheLedgerHasRows(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		sentJob(t, s, "a", "1", "2", "3", "4", "5")
		lease := mustLease(t, s, "b")
		held := newEntry("9")
		held.State, held.Cause = trade.Held, trade.CauseOtherJob
		mustRecord(t, s, lease, held)
		if _, err := s.MoveJob(t.Context(), "a", "b", true, moveAct); !errors.As(err, new(*trade.LeasedError)) {
			t.Errorf("a job that is run: %v", err)
		}
		must.Do(t, s.ReleaseLease(t.Context(), lease))
		planned := must.Get(s.MoveJob(t.Context(), "a", "b", false, trade.AuditRecord{}))(t)
		if done := mustMove(t, s, "a", "b"); !planned.Taken || !done.Taken || done.Entries != 5 {
			t.Errorf("%+v, %+v", planned, done)
		}
		if len(statesOf(t, s, "a")) != 5 || len(statesOf(t, s, "b")) != 1 {
			t.Errorf("a has %v, b %v", statesOf(t, s, "a"), statesOf(t, s, "b"))
		}
		if audit, err := s.Audit(t.Context(), 0); err != nil || len(audit) != 0 {
			t.Errorf("audit %+v, %v", audit, err)
		}
		mustAddUp(t, s, "a")
		mustAddUp(t, s, "b")
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
		is("c", trade.Paused) // the brake tells of b still, which cannot get the same name
		brake := must.Get(s.JobStatus(t.Context(), "c"))(t).Stop.Brake
		if brake.Known != 4 || len(brake.Former) != 1 {
			t.Errorf("the brake of a name that was given is %+v", brake)
		}
		status("e", trade.Paused, &trade.Brake{Job: "e", Former: []trade.KnownJob{{Job: "b"}}})
		mustMove(t, s, "b", "e")
		is("e", trade.Idle)
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
			mustMove(t, k.s, "a", "b")
			step()
			lease := mustLease(t, k.s, "b")
			fresh := mustRecord(t, k.s, lease, newEntry("9"))[0]
			mustSettle(t, k.s, lease, created(mustSend(t, k.s, lease, mustEntry(t, k.s, "b", "4")), "remote-4"))
			must.Do(t, k.s.ReleaseLease(t.Context(), lease))
			step()
			lease = mustLease(t, k.s, "b")
			mustSettle(t, k.s, lease, created(mustSend(t, k.s, lease, fresh), "remote-9"))
			must.Do(t, k.s.ReleaseLease(t.Context(), lease))
			step()
			mustMove(t, k.s, "b", "c")
			lease = mustLease(t, k.s, "a") // both names are used again
			mustSettle(t, k.s, lease, created(mustSend(t, k.s, lease,
				mustRecord(t, k.s, lease, newEntry("50"))[0]), "remote-50"))
			must.Do(t, k.s.ReleaseLease(t.Context(), lease))
			step()
			mustMove(t, k.s, "a", "b")
			step()
			lease = mustLease(t, k.s, "a")
			mustSettle(t, k.s, lease, created(mustSend(t, k.s, lease,
				mustRecord(t, k.s, lease, newEntry("77"))[0]), "remote-77"))
			must.Do(t, k.s.ReleaseLease(t.Context(), lease))
			if renewed {
				r := &retaining{Store: k.s, Keep: Retention{Journal: 1}, Now: at}
				must.Do(t, r.beginAgain(t.Context()))
			}
			want := provenOf(t, k.s)
			for _, key := range []string{"c 1", "c 4", "c 9", "b 50", "a 77"} {
				if want[key].State != trade.Accepted || want["c 2"].State != trade.InDoubt {
					t.Fatalf("%s: %+v", key, want)
				}
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
		stop := errors.New("the process ends here")
		err := k.s.db.InTx(t.Context(), "testing", func(tx *sqldb.Tx) error {
			m := &jobMove{Tx: tx, From: "a", To: "b", Now: at}
			if err := errors.Join(m.look(), m.Apply(moveAct)); err != nil {
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
		wantStates(t, k.s, "b", map[string]trade.State{
			"1": trade.Accepted, "2": trade.InDoubt, "3": trade.Rejected,
			"4": trade.Pending,
		})
		mustAddUp(t, k.s, "a")
		mustAddUp(t, k.s, "b")
		k.close()
		k.open()
		if k.s.Opening() != (Opening{}) {
			t.Errorf("settled twice: %+v", k.s.Opening())
		}
	})
}

// A ledger that has rows under both names of a job was never that of the journal: nothing is replayed.
func TestF058ALedgerWithRowsUnderBothNamesIsNotRebuilt(t *testing.T) {
	k := sqliteKept(t)
	sentJob(t, k.s, "a", "1", "2", "3", "4")
	mustMove(t, k.s, "a", "b")
	sentJob(t, k.s, "c", "5", "6", "7", "8")
	history := must.Get(readHistory(k.dir()))(t)
	err := k.s.db.InTx(t.Context(), "testing", func(tx *sqldb.Tx) error {
		must.Do(t, tx.Do(`UPDATE job_kind SET job = 'a' WHERE job = 'c'`))
		r := &replay{Tx: tx, History: history, Plan: &RebuildPlan{}, Now: at}
		return r.moveJobs(0, "ana")
	})
	if err == nil || !strings.Contains(err.Error(), "job a was renamed to b") {
		t.Error(err)
	}
}
