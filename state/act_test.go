package state

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

func anAct(target string) trade.AuditRecord {
	return trade.AuditRecord{
		At: at, Who: "maria", From: "maria@host", Act: "dismiss", Target: target,
		Reason: "typed twice", Detail: `{}`,
	}
}

// dismissal takes an entry out as it stands.
func dismissal(e trade.Entry) trade.Act {
	from := e.State
	e.State = trade.Dismissed
	return trade.Act{Update: &trade.Update{From: from, Entry: e}, Audit: anAct(e.Job + " " + e.Key)}
}

func TestAnActIsDoneWithItsRecordAndOnlyToWhatThePersonSaw(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		e := mustRecord(t, s, lease, newEntry("a"), newEntry("b"))
		moved := e[1]
		moved.Version--
		done, err := s.Act(t.Context(), []trade.Act{dismissal(e[0]), dismissal(moved)})
		if err != nil || !cmp.Equal(done, []bool{true, false}) {
			t.Fatalf("done %v, %v", done, err)
		}
		if got := statesOf(t, s, "contracts"); got["a"] != trade.Dismissed || got["b"] != trade.Pending {
			t.Errorf("states %v", got)
		}
		audit, err := s.Audit(t.Context(), 0)
		if err != nil || len(audit) != 1 || audit[0].Target != "contracts a" || audit[0].Reason != "typed twice" {
			t.Errorf("audit %+v, %v", audit, err)
		}
		mustAddUp(t, s, "contracts")
	})
}

func TestAnActWithoutARecordIsRefusedAndARecordThatCannotBeWrittenUndoesTheAct(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		e := mustRecord(t, s, mustLease(t, s, "contracts"), newEntry("a"))
		act := dismissal(e[0])
		act.Audit.Who = ""
		if _, err := s.Act(t.Context(), []trade.Act{act}); !errors.Is(err, errNoRecord) {
			t.Errorf("an act of nobody: %v", err)
		}
		mustExec(t, s, map[string]string{
			sqldb.SQLite:   `CREATE TRIGGER no_audit BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'no'); END`,
			sqldb.Postgres: `CREATE TRIGGER no_audit BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION safrasync_refuse('no')`,
		}[s.db.D.Name])
		if _, err := s.Act(t.Context(), []trade.Act{dismissal(e[0])}); err == nil {
			t.Error("the record is missing, and nobody is told")
		}
		if got := mustEntry(t, s, "contracts", "a"); got.State != trade.Pending || got.Version != e[0].Version {
			t.Errorf("the act was done without its record: %+v", got)
		}
	})
}

func TestAPauseStaysUntilAnActEndsItAndNoIntentIsStoredMeanwhile(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		e := mustRecord(t, s, lease, newEntry("a"), newEntry("b"))
		flying := mustSend(t, s, lease, e[0])
		running := trade.JobStatus{Job: "contracts", State: trade.Running, Since: at}
		must.Do(t, s.SetJobStatus(t.Context(), running))
		pause := trade.JobStatus{
			Job: "contracts", State: trade.Paused, Since: at,
			Stop: &trade.Stop{Code: "paused", Text: "maria: the harvest"},
		}
		done, err := s.Act(t.Context(), []trade.Act{{
			Job:   &trade.JobAct{Job: "contracts", Status: pause},
			Audit: anAct("contracts"),
		}})
		if err != nil || !done[0] {
			t.Fatalf("done %v, %v", done, err)
		}
		in := intentOf(e[1])
		r := mustCommit(t, s, lease, trade.Group{
			Settle:  []trade.Settlement{created(flying, sqldb.NewID())},
			Intents: []trade.Intent{in},
		})
		if !r.Paused || r.Claimed[in.Attempt.ID] || !r.Settled[flying.ID] {
			t.Errorf("a group of a paused job: %+v", r)
		}
		must.Do(t, s.SetJobStatus(t.Context(),
			trade.JobStatus{Job: "contracts", State: trade.Idle, Since: at}))
		saw, err := s.JobStatus(t.Context(), "contracts")
		if err != nil || saw.State != trade.Paused || saw.Stop.Text != "maria: the harvest" {
			t.Fatalf("the pause is %+v, %v", saw, err)
		}
		act := func(saw trade.JobStatus, cursor *trade.Cursor) (bool, error) {
			resume := trade.JobAct{
				Job: "contracts", Saw: &saw, Cursor: cursor,
				Status: trade.JobStatus{Job: "contracts", State: trade.Idle, Since: at},
			}
			done, err := s.Act(t.Context(), []trade.Act{{Job: &resume, Audit: anAct("contracts")}})
			return err == nil && done[0], err
		}
		other := saw
		other.Stop = &trade.Stop{Code: "paused", Text: "joão: year end"}
		if done, err := act(other, nil); done || err != nil {
			t.Errorf("another pause than this one was ended: %v, %v", done, err)
		}
		cursor := trade.Cursor{
			Bound: "x",
			Brakes: trade.Memory{
				Passed: 7, Counts: []int{1, 2},
				Identity: &trade.Identity{Key: []string{"num"}, Tables: []string{"t"}}, Allowed: 3,
			},
		}
		var held *trade.LeasedError
		if _, err := act(saw, &cursor); !errors.As(err, &held) {
			t.Errorf("what the brakes remember was changed while a process runs the job: %v", err)
		}
		must.Do(t, s.ReleaseLease(t.Context(), lease))
		if done, err := act(saw, &cursor); !done || err != nil {
			t.Errorf("done %v, %v", done, err)
		}
		if got, err := s.Cursor(t.Context(), "contracts"); err != nil || !cmp.Equal(cursor, got) {
			t.Errorf("the cursor differs: %s%v", cmp.Diff(cursor, got), err)
		}
	})
}

func TestArrivalsAreTheEntriesAboveAMark(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		e := mustRecord(t, s, mustLease(t, s, "contracts"), newEntry("a"), newEntry("b"), newEntry("c"))
		mustRecord(t, s, mustLease(t, s, "other"), newEntry("x"))
		for after, want := range map[int64]trade.Arrivals{
			0:       {Count: 3, Last: e[2].ID, Samples: []string{"a", "b"}},
			e[0].ID: {Before: true, Count: 2, Last: e[2].ID, Samples: []string{"b", "c"}},
			e[2].ID: {Before: true},
		} {
			got, err := s.Arrivals(t.Context(), "contracts", after, 2)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("after %d (-want +got):\n%s%v", after, diff, err)
			}
		}
	})
}

// Entries that were sent are no arrivals: a rebuild adds them with new ids.
func TestArrivalsAreNotWhatWasSentBefore(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		e := mustRecord(t, s, lease, newEntry("a"), newEntry("b"), newEntry("c"))
		mustSettle(t, s, lease, created(mustSend(t, s, lease, e[0]), sqldb.NewID()))
		mustSend(t, s, lease, e[2])
		got, err := s.Arrivals(t.Context(), "contracts", 0, 2)
		want := trade.Arrivals{Count: 1, Last: e[2].ID, Samples: []string{"b"}}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("(-want +got):\n%s%v", diff, err)
		}
	})
}

// What a row is now is found also where the ERP changed it after it was sent.
func TestARecordIsFoundByItsNewestRowToo(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		e := mustRecord(t, s, lease, newEntry("a"))[0]
		mustSettle(t, s, lease, created(mustSend(t, s, lease, e), sqldb.NewID()))
		sent := mustEntry(t, s, "contracts", "a")
		sent.SourceHash, sent.Flags = trade.HashOf("newer"), trade.Flags{trade.Changed}
		sent.Newest = trade.Prints{Cells: trade.HashOf("newer"), Near: 7}
		sent.Now, sent.AckValues, sent.Acknowledged = trade.Values{"preco": {Kind: 'n', Text: "2"}},
			trade.Values{"preco": {}}, trade.Flags{trade.Cancelled}
		if lost, err := s.Record(t.Context(), lease,
			trade.Page{Updates: []trade.Update{{From: sent.State, Entry: sent}}}); lost != 0 || err != nil {
			t.Fatal(lost, err)
		}
		sent.Version++
		for _, by := range []trade.Prints{
			{Cells: trade.HashOf("newer")}, {Near: 7}, {Cells: trade.HashOf("source-a")},
		} {
			found, _, err := s.Records(t.Context(), trade.RecordQuery{
				Kind: trade.OrderCommitments, Prints: []trade.Prints{by},
			})
			if err != nil || len(found) != 1 || found[0].Key != "a" || found[0].Newest != sent.Newest {
				t.Errorf("found %+v, %v", found, err)
			}
		}
		got := mustEntry(t, s, "contracts", "a")
		if !cmp.Equal(got.Now, sent.Now) || !cmp.Equal(got.AckValues, sent.AckValues) ||
			!cmp.Equal(got.Acknowledged, sent.Acknowledged) {
			t.Errorf("kept %+v", got)
		}
		known, err := s.Known(t.Context(), "contracts", []string{"a"})
		if err != nil || !known["a"].Acknowledged.Has(trade.Cancelled) {
			t.Errorf("known %+v, %v", known, err)
		}
	})
}
