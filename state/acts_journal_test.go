package state

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// entryAct is an act of ana on an entry as it stands, which becomes what change makes of it.
func entryAct(name string, e trade.Entry, change func(e *trade.Entry)) trade.Act {
	from := e.State
	change(&e)
	return trade.Act{
		Update: &trade.Update{From: from, Entry: e},
		Audit: trade.AuditRecord{
			At: at, Who: "ana", From: "ana@srv", Act: name, Target: e.Job + " " + e.Key,
			Reason: "test", Detail: `{}`,
		},
	}
}

func adoption(e trade.Entry, id string) trade.Act {
	return entryAct("adopt", e, func(e *trade.Entry) {
		e.State, e.RemoteID, e.Cause, e.Error = trade.Accepted, id, "", nil
	})
}

func reopening(e trade.Entry) trade.Act {
	return entryAct("reopen", e, func(e *trade.Entry) { e.State, e.Dismissal = trade.InDoubt, nil })
}

// resending orders a second sending; the quarantine is over on the clock of this boot.
func resending(e trade.Entry) trade.Act {
	a := entryAct("resend", e, func(e *trade.Entry) {
		e.State, e.Cause, e.Error, e.Generation = trade.Pending, "", nil, e.Generation+1
	})
	a.Resend = &trade.Resend{Boot: "boot", Ticks: time.Hour, Least: time.Minute}
	return a
}

// order does acts, which must be done.
func (k *kept) order(acts ...trade.Act) {
	k.t.Helper()
	done := must.Get(k.s.Act(k.t.Context(), acts))(k.t)
	for i, ok := range done {
		if !ok {
			k.t.Fatalf("%s %s was not done", acts[i].Audit.Act, acts[i].Audit.Target)
		}
	}
}

// doubts records n rows that are in doubt, and begins their quarantine.
func (k *kept) doubts(n int) []trade.Entry {
	k.t.Helper()
	doubts := k.sends("d", n, n, func(a trade.Attempt, _ trade.Entry) trade.Settlement { return unknown(a) })
	must.Get(k.s.Watch(k.t.Context(), "contracts", "boot", 0))(k.t)
	return doubts
}

// F058: a copy from before a person decided is older too, although nothing was sent since: what was
// adopted, left out or ordered would otherwise be decided again, and sent. One act less may be a
// crash, and is done at the opening; more are refused; either way the ledger has the decision
// before anything is sent.
func TestF058ACopyFromBeforeAnActIsNoticedAndHasItAgain(t *testing.T) {
	for name, c := range map[string]struct {
		first, act func(e trade.Entry) trade.Act
		want       proven
	}{
		"adopt": {
			nil, func(e trade.Entry) trade.Act { return adoption(e, "remote-x") },
			proven{trade.Accepted, "remote-x", 1},
		},
		"adopt, no id": {
			nil, func(e trade.Entry) trade.Act { return adoption(e, "") },
			proven{trade.Accepted, "", 1},
		},
		"dismiss": {nil, dismissal, proven{trade.Dismissed, "", 1}},
		"reopen":  {dismissal, reopening, proven{trade.InDoubt, "", 1}},
		// sending again is not for the program to decide
		"resend":       {nil, resending, proven{trade.InDoubt, "", 2}},
		"resend, then": {resending, dismissal, proven{trade.Dismissed, "", 2}},
		"dismiss, adopt": {
			dismissal, func(e trade.Entry) trade.Act { return adoption(e, "remote-y") },
			proven{trade.Accepted, "remote-y", 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := sqliteKept(t)
			doubts := k.doubts(2)
			e := doubts[0]
			if c.first != nil {
				k.order(c.first(e))
				e = mustEntry(t, k.s, "contracts", e.Key)
			}
			copies, steps := t.TempDir(), []string{"before", "between"}
			backup := func(name string) {
				must.Do(t, k.s.Backup(t.Context(), filepath.Join(copies, name)))
			}
			backup(steps[0])
			k.order(dismissal(doubts[1]))
			backup(steps[1])
			k.order(c.act(e))
			dir, whole := k.dir(), t.TempDir()
			k.close()
			must.Do(t, os.CopyFS(whole, os.DirFS(dir)))
			for _, step := range append(steps, "none") {
				must.Do(t, os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(whole)))
				removeLedger(t, k.o.DSN)
				if step != "none" {
					copyFile(t, filepath.Join(copies, step), k.o.DSN)
				}
				if step == "between" {
					k.open()
					if got := k.s.Opening(); got != (Opening{Acts: 1}) {
						t.Errorf("opening %+v", got)
					}
				} else {
					wantCode(t, k.try(sqldb.DefaultTuning),
						map[string]string{"before": sqldb.CodeRolledBack, "none": sqldb.CodeEmptied}[step])
					must.Get(Rebuild(t.Context(), k.o, nil, true, rebuildAct))(t)
					k.open()
				}
				got := mustEntry(t, k.s, "contracts", e.Key)
				if diff := cmp.Diff(c.want, proven{got.State, got.RemoteID, got.Generation}); diff != "" {
					t.Errorf("%s (-want +got):\n%s", step, diff)
				}
				if other := mustEntry(t, k.s, "contracts", doubts[1].Key); other.State != trade.Dismissed {
					t.Errorf("%s: the other is %s", step, other.State)
				}
				mustAddUp(t, k.s, "contracts")
				k.close()
			}
		})
	}
}

// A row that was adopted before anything was sent is known to the journal like one that was sent.
func TestF058ARowThatWasAdoptedUnsentComesBackFromTheJournal(t *testing.T) {
	k := sqliteKept(t)
	lease := mustLease(t, k.s, "contracts")
	fresh := mustRecord(t, k.s, lease, newEntry("there"), newEntry("closed"), newEntry("other"))
	must.Do(t, k.s.ReleaseLease(t.Context(), lease))
	before := filepath.Join(t.TempDir(), "before")
	must.Do(t, k.s.Backup(t.Context(), before))
	k.order(adoption(fresh[0], "remote-x"))
	k.order(adoption(fresh[1], ""))
	k.close()
	removeLedger(t, k.o.DSN)
	copyFile(t, before, k.o.DSN)
	wantCode(t, k.try(sqldb.DefaultTuning), sqldb.CodeRolledBack)
	must.Get(Rebuild(t.Context(), k.o, nil, true, rebuildAct))(t)
	k.open()
	for i, want := range []proven{
		{trade.Accepted, "remote-x", 1}, {trade.Accepted, "", 1}, {trade.Pending, "", 1},
	} {
		got := mustEntry(t, k.s, "contracts", fresh[i].Key)
		if diff := cmp.Diff(want, proven{got.State, got.RemoteID, got.Generation}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", got.Key, diff)
		}
	}
	mustAddUp(t, k.s, "contracts")
}

// A process that dies between the journal and the ledger of an act raises no alarm: the next one
// does what was ordered, on either database.
func TestAnActThatOnlyTheJournalHasIsDoneAtTheNextStart(t *testing.T) {
	journaled(t, func(t *testing.T, k *kept) {
		e := k.doubts(1)[0]
		goesOn := *k
		goesOn.open()
		stop := errors.New("the process ends here")
		err := k.s.db.InTx(t.Context(), "testing", func(tx *sqldb.Tx) error {
			if err := actOnEntries(tx, []trade.Act{adoption(e, "remote-x")}, make([]bool, 1)); err != nil {
				return err
			}
			return errors.Join(tx.WriteNote(), stop)
		})
		if !errors.Is(err, stop) {
			t.Fatal(err)
		}
		k.close()
		goesOn.send("after", 1)
		got := mustEntry(t, goesOn.s, "contracts", e.Key)
		audit, err := goesOn.s.Audit(t.Context(), 1)
		if err != nil || got.State != trade.Accepted || got.RemoteID != "remote-x" || len(audit) != 1 ||
			audit[0].Act != "journal settle" {
			t.Errorf("entry %+v, audit %+v, %v", got, audit, err)
		}
		mustAddUp(t, goesOn.s, "contracts")
	})
}

// An act that the ledger refused was not done, and a rebuilding does not do it.
func TestAnActThatTheLedgerRefusedIsNotRebuilt(t *testing.T) {
	k := sqliteKept(t)
	e := k.doubts(1)[0]
	stop := errors.New("the disk is full")
	if err := k.s.db.InTx(t.Context(), "testing", func(tx *sqldb.Tx) error {
		if err := actOnEntries(tx, []trade.Act{adoption(e, "remote-x")}, make([]bool, 1)); err != nil {
			return err
		}
		return errors.Join(tx.WriteNote(), stop)
	}); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	k.send("after", 1)
	k.close()
	removeLedger(t, k.o.DSN)
	must.Get(Rebuild(t.Context(), k.o, nil, true, rebuildAct))(t)
	k.open()
	if got := mustEntry(t, k.s, "contracts", e.Key); got.State != trade.InDoubt || got.RemoteID != "" {
		t.Errorf("%+v", got)
	}
}

// F058: the journal was lost and begun anew, and then a copy from before that is put in place: the
// new journal knows what the copy does not, and nobody is told to forget it.
func TestF058ACopyFromBeforeANewJournalIsRebuilt(t *testing.T) {
	k := sqliteKept(t)
	k.send("a", 3)
	before := filepath.Join(t.TempDir(), "before.db")
	must.Do(t, k.s.Backup(t.Context(), before))
	k.send("b", 3)
	want := provenOf(t, k.s)
	dir := k.dir()
	k.close()
	must.Do(t, os.RemoveAll(dir))
	wantCode(t, k.try(sqldb.DefaultTuning), sqldb.CodeJournalLost)
	must.Get(NewJournal(t.Context(), k.o, nil, true, rebuildAct))(t)
	k.open()
	braked := must.Get(k.s.JobStatus(t.Context(), "contracts"))(t)
	k.close()
	removeLedger(t, k.o.DSN)
	copyFile(t, before, k.o.DSN)
	wantCode(t, k.try(sqldb.DefaultTuning), sqldb.CodeRolledBack)
	for _, apply := range []bool{false, true} {
		_, err := NewJournal(t.Context(), k.o, nil, apply, rebuildAct)
		if text := wantCode(t, err, sqldb.CodeRolledBack); !strings.Contains(text, "rebuild") ||
			strings.Contains(text, "--new-journal") {
			t.Errorf("the way out is %s", text)
		}
	}
	must.Get(Rebuild(t.Context(), k.o, nil, true, rebuildAct))(t)
	k.open()
	wantProven(t, k.s, want)
	// nobody has compared the platform with the ledger yet, so the brake is a brake as before
	if status := must.Get(k.s.JobStatus(t.Context(), "contracts"))(t); status.Stop == nil ||
		status.Stop.Brake == nil || !cmp.Equal(braked, status) {
		t.Errorf("the job (-braked +rebuilt):\n%s", cmp.Diff(braked, status))
	}
	mustExec(t, k.s, `DELETE FROM job_status`) // as if a person had ended the pause
	k.send("c", 2)
	k.close()
	// in step, a person may begin a new one
	if _, err := NewJournal(t.Context(), k.o, nil, true, rebuildAct); err != nil {
		t.Fatal(err)
	}
	k.open()
}

// A copy from before a pause would send what a person stopped.
func TestF058ACopyFromBeforeAPauseIsPausedAgain(t *testing.T) {
	k := sqliteKept(t)
	k.send("a", 2)
	before := filepath.Join(t.TempDir(), "before.db")
	must.Do(t, k.s.Backup(t.Context(), before))
	pause := trade.JobStatus{
		Job: "contracts", State: trade.Paused, Since: at,
		Stop: &trade.Stop{Code: "paused", Why: trade.Say("stop.paused.by", "who", "ana", "why", "the harvest")},
	}
	k.order(trade.Act{Job: &trade.JobAct{Job: "contracts", Status: pause}, Audit: anAct("contracts")})
	k.close()
	for _, there := range []bool{true, false} {
		removeLedger(t, k.o.DSN)
		if there {
			copyFile(t, before, k.o.DSN)
		} else {
			plan, err := Rebuild(t.Context(), k.o, nil, true, rebuildAct)
			if err != nil || !cmp.Equal(plan.Paused, []string{"contracts"}) {
				t.Fatalf("plan %+v, %v", plan, err)
			}
		}
		k.open()
		if got, err := k.s.JobStatus(t.Context(), "contracts"); err != nil || !cmp.Equal(pause, got) {
			t.Errorf("ledger there: %t: %v%s", there, err, cmp.Diff(pause, got))
		}
		k.close()
	}
}
