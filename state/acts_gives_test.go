package state

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// takeover returns the id of one entry to another that is held.
func takeover(from, to trade.Entry) trade.Act {
	a := adoption(to, from.RemoteID)
	from.MovedID, from.RemoteID, from.Flags = from.RemoteID, "", from.Flags.With(trade.Moved, true)
	from.Acknowledged = trade.Flags{trade.MissingInERP} // its key is gone
	a.Gives = &trade.Update{From: trade.Accepted, Entry: from}
	return a
}

// retyped makes a contract that was sent and the same under a new key, which is held.
func (k *kept) retyped() (old, held trade.Entry) {
	k.t.Helper()
	lease := mustLease(k.t, k.s, "contracts")
	e := mustRecord(k.t, k.s, lease, newEntry("old"))[0]
	mustSettle(k.t, k.s, lease, created(mustSend(k.t, k.s, lease, e), "remote-1"))
	again := newEntry("new")
	again.State, again.Cause = trade.Held, trade.CauseRetyped
	held = mustRecord(k.t, k.s, lease, again)[0]
	must.Do(k.t, k.s.ReleaseLease(k.t.Context(), lease))
	return mustEntry(k.t, k.s, "contracts", "old"), held
}

// given checks that the record of the old key belongs to the new one.
func given(t *testing.T, s *Store) {
	t.Helper()
	old, held := mustEntry(t, s, "contracts", "old"), mustEntry(t, s, "contracts", "new")
	if old.State != trade.Accepted || old.RemoteID != "" || old.MovedID != "remote-1" || !old.Flags.Has(trade.Moved) ||
		!old.Acknowledged.Has(trade.MissingInERP) || held.State != trade.Accepted || held.RemoteID != "remote-1" {
		t.Errorf("old %+v\nnew %+v", old, held)
	}
	found, _, err := s.Records(t.Context(), trade.RecordQuery{Kind: trade.OrderCommitments, Prints: []trade.Prints{
		{Cells: trade.HashOf("source-old")},
	}})
	if odd := must.Get(s.Unrecorded(t.Context()))(t); len(odd) > 0 || err != nil || len(found) != 1 ||
		found[0].Key != "old" || found[0].Row.Key != "new" || found[0].RemoteID != "remote-1" {
		t.Errorf("records %+v, %v, contradicting %v", found, err, odd)
	}
	parents, err := s.Parents(t.Context(),
		[]trade.ParentKey{{Job: "contracts", Key: "old"}, {Job: "contracts", Key: "new"}})
	for _, p := range parents {
		if p.RemoteID != "remote-1" || err != nil {
			t.Errorf("parents %+v, %v", parents, err)
		}
	}
	mustAddUp(t, s, "contracts")
}

func TestTheDatabaseGuardsAnIDThatIsGivenOn(t *testing.T) {
	journaled(t, func(t *testing.T, k *kept) {
		old, held := k.retyped()
		for name, query := range map[string]string{
			"an id without a trace": `UPDATE entry SET record_id = NULL WHERE key = 'old'`,
			"an id of two":          `UPDATE entry SET state = 'accepted', record_id = (SELECT id FROM sent WHERE key = 'old') WHERE key = 'new'`,
			"a trace that is held":  `UPDATE entry SET record_id = (SELECT id FROM sent WHERE key = 'old') WHERE key = 'new'`,
		} {
			if err := byHand(k.s, query); err == nil {
				t.Errorf("%s: the database lets it pass", name)
			}
		}
		wrong := takeover(old, held)
		wrong.Gives.Entry.MovedID = "remote-2"
		if _, err := k.s.Act(t.Context(), []trade.Act{wrong}); err == nil {
			t.Error("another id was given than the one that was got")
		}
		moved := old
		moved.Version--
		if done, err := k.s.Act(t.Context(), []trade.Act{takeover(moved, held)}); err != nil || done[0] {
			t.Errorf("the old row had moved: %v, %v", done, err)
		}
		k.order(takeover(old, held))
		given(t, k.s)
		for name, query := range map[string]string{
			"another record":  `UPDATE sent SET remote_id = 'remote-3'`,
			"a lost trace":    `UPDATE entry SET record_id = NULL WHERE key = 'old'`,
			"an altered one":  `UPDATE entry SET record_id = 99 WHERE key = 'old'`,
			"sent once more":  `UPDATE entry SET state = 'pending', record_id = NULL WHERE key = 'old'`,
			"the new without": `UPDATE entry SET record_id = NULL WHERE key = 'new'`,
		} {
			if err := byHand(k.s, query); err == nil {
				t.Errorf("%s: the database lets it pass", name)
			}
		}
		holder, err := k.s.Holder(t.Context(), trade.OrderCommitments, "remote-1", 0)
		if err != nil || holder.Key != "new" {
			t.Errorf("holder %+v, %v", holder, err)
		}
	})
}

// F058: the journal knows whose a record is now: older copies, and no ledger at all.
func TestF058ARecordThatWasGivenOnIsRebuiltSo(t *testing.T) {
	k := sqliteKept(t)
	old, held := k.retyped()
	copies := t.TempDir()
	backup := func(name string) {
		must.Do(t, k.s.Backup(t.Context(), filepath.Join(copies, name)))
	}
	backup("before")
	doubt := k.doubts(1)[0]
	backup("between")
	k.order(takeover(old, held))
	backup("after")
	k.order(dismissal(doubt))
	dir, whole := k.dir(), t.TempDir()
	k.close()
	must.Do(t, os.CopyFS(whole, os.DirFS(dir)))
	for _, step := range []string{"before", "between", "after", "none", "new journal"} {
		must.Do(t, os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(whole)))
		removeLedger(t, k.o.DSN)
		switch step {
		case "none", "new journal":
		default:
			copyFile(t, filepath.Join(copies, step), k.o.DSN)
		}
		if step != "after" {
			if _, err := Rebuild(t.Context(), k.o, nil, true, rebuildAct); err != nil {
				t.Fatalf("%s: %v", step, err)
			}
		}
		if step == "new journal" { // which begins with what the ledger knows
			must.Get(NewJournal(t.Context(), k.o, nil, true, rebuildAct))(t)
			removeLedger(t, k.o.DSN)
			must.Get(Rebuild(t.Context(), k.o, nil, true, rebuildAct))(t)
		}
		k.open()
		given(t, k.s)
		k.close()
		if t.Failed() {
			t.Fatal(step)
		}
	}
}

// A record may be given on more than once: each row that had it is accepted by it, also when the ledger
// is made anew from the journal.
func TestF058ARecordThatWasGivenOnTwiceIsRebuiltSo(t *testing.T) {
	k := sqliteKept(t)
	k.order(takeover(k.retyped()))
	lease := mustLease(t, k.s, "contracts")
	again := newEntry("newest")
	again.State, again.Cause = trade.Held, trade.CauseRetyped
	held := mustRecord(t, k.s, lease, again)[0]
	must.Do(t, k.s.ReleaseLease(t.Context(), lease))
	k.order(takeover(mustEntry(t, k.s, "contracts", "new"), held))
	rows := func() (out []string) {
		for _, key := range []string{"old", "new", "newest"} {
			e := mustEntry(t, k.s, "contracts", key)
			out = append(out, fmt.Sprint(e.State, " has ", e.RemoteID, ", gave ", e.MovedID, " ", e.Flags))
		}
		return out
	}
	want := rows()
	k.close()
	removeLedger(t, k.o.DSN)
	must.Get(Rebuild(t.Context(), k.o, nil, true, rebuildAct))(t)
	k.open()
	if diff := cmp.Diff(want, rows()); diff != "" {
		t.Errorf("rebuilt (-want +got):\n%s", diff)
	}
	mustAgree(t, k.s)
}

// A late answer of an earlier sending of the old key does not make it the holder of anything: it is
// told.
func TestALateAnswerOfARowThatGaveItsRecordIsTold(t *testing.T) {
	journaled(t, func(t *testing.T, k *kept) {
		doubt := k.doubts(1)[0]
		attempts := must.Get(k.s.Attempts(t.Context(), doubt.ID))(t)
		k.order(resending(doubt))
		lease := mustLease(t, k.s, "contracts")
		second := mustSend(t, k.s, lease, mustEntry(t, k.s, "contracts", doubt.Key))
		mustSettle(t, k.s, lease, created(second, "remote-2"))
		again := newEntry("new")
		again.State, again.Cause = trade.Held, trade.CauseRetyped
		held := mustRecord(t, k.s, lease, again)[0]
		k.order(takeover(mustEntry(t, k.s, "contracts", doubt.Key), held))
		r := mustSettle(t, k.s, lease, created(attempts[0], "remote-1"))
		got := mustEntry(t, k.s, "contracts", doubt.Key)
		if len(r.Alarms) != 1 || r.Alarms[0].Kind != trade.LateDouble || r.Alarms[0].Other != "remote-2" ||
			got.RemoteID != "" || got.MovedID != "remote-2" ||
			!got.Flags.Has(trade.DoubleAfterDecision) {
			t.Errorf("alarms %+v, entry %+v", r.Alarms, got)
		}
		if diff := cmp.Diff(trade.Accepted, mustEntry(t, k.s, "contracts", "new").State); diff != "" {
			t.Error(diff)
		}
		mustAddUp(t, k.s, "contracts")
	})
}

// Should the new row lose what it was given, by whatever hand, the doctor says so.
func TestAnIDThatNobodyHasIsTold(t *testing.T) {
	journaled(t, func(t *testing.T, k *kept) {
		old, held := k.retyped()
		k.order(takeover(old, held))
		other := k.doubts(1)[0]
		must.Do(t, byHand(k.s, `UPDATE sent SET entry_id = ? WHERE key = 'old'`, other.ID))
		odd := must.Get(k.s.Unrecorded(t.Context()))(t)
		if odd[old.ID] != "contracts old" || odd[held.ID] != "contracts new" {
			t.Errorf("contradicting %v", odd)
		}
	})
}
