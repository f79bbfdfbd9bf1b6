package state

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

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
