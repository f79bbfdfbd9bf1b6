package state

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

func TestAnActOutsideTheLedgerIsWrittenToTheAuditInItsOrder(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		before := trade.AuditRecord{
			At: at, Who: "maria", From: "maria@host", Act: "api webhooks create", Target: "CREATE_FARM",
			Reason: "go-live", Detail: `{"phase":"before"}`,
		}
		after := before
		after.At, after.Detail = at.Add(time.Second), `{"phase":"after"}`
		for _, record := range []trade.AuditRecord{before, after} {
			must.Do(t, s.AppendAudit(t.Context(), record))
		}
		got, err := s.Audit(t.Context(), 0)
		if diff := cmp.Diff([]trade.AuditRecord{after, before}, got,
			cmpopts.IgnoreFields(trade.AuditRecord{}, "Seq", "Prev", "Hash")); diff != "" || err != nil {
			t.Errorf("audit, newest first (-want +got):\n%s%v", diff, err)
		}
	})
}

func TestAnActThatCannotBeWrittenToTheAuditIsAnError(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		mustExec(t, s, map[string]string{
			sqldb.SQLite:   `CREATE TRIGGER no_audit BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'no'); END`,
			sqldb.Postgres: `CREATE TRIGGER no_audit BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION safrasync_refuse('no')`,
		}[s.db.D.Name])
		if err := s.AppendAudit(t.Context(),
			trade.AuditRecord{At: at, Who: "maria", Act: "api credit-score create"}); err == nil {
			t.Error("the record is missing, and nobody is told")
		}
		if got, err := s.Audit(t.Context(), 0); len(got) != 0 || err != nil {
			t.Errorf("audit: %v, %v", got, err)
		}
	})
}
