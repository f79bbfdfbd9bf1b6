package state

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

func TestReferencesAndTheirVersion(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		versions := map[string]bool{}
		check := func(want map[string]map[string]string, fresh bool) {
			t.Helper()
			codes, version, err := s.References(t.Context())
			if diff := cmp.Diff(want, codes); diff != "" || err != nil {
				t.Errorf("references (-want +got):\n%s%v", diff, err)
			}
			if versions[version] == fresh {
				t.Errorf("version %q: seen before: %v, want %v", version, versions[version], !fresh)
			}
			versions[version] = true
		}
		check(map[string]map[string]string{}, true)
		audit := trade.AuditRecord{
			At: at, Who: "maria", From: "host", Act: "refs import", Target: "wallets",
			Reason: "new wallets",
		}
		added, changed, err := s.ImportReferences(t.Context(), "wallets", map[string]string{"1": "a", "2": "b"},
			nil, audit)
		if added != 2 || changed != 0 || err != nil {
			t.Errorf("import: %d, %d, %v", added, changed, err)
		}
		check(map[string]map[string]string{"wallets": {"1": "a", "2": "b"}}, true)
		if added, changed, err = s.ImportReferences(t.Context(), "wallets",
			map[string]string{"2": "B", "1": "a", "3": "c"}, nil, audit); added != 1 || changed != 1 || err != nil {
			t.Errorf("import: %d, %d, %v", added, changed, err)
		}
		check(map[string]map[string]string{"wallets": {"1": "a", "2": "B", "3": "c"}}, true)
		if n, err := s.ReplaceReferences(t.Context(), "farms", map[string]string{"x": "1", "y": "2"}, nil); n != 2 ||
			err != nil {
			t.Errorf("replace: %d, %v", n, err)
		}
		check(map[string]map[string]string{"wallets": {"1": "a", "2": "B", "3": "c"}, "farms": {"x": "1", "y": "2"}},
			true)
		if n, err := s.ReplaceReferences(t.Context(), "farms", map[string]string{"x": "1", "y": "2"}, nil); n != 0 ||
			err != nil {
			t.Errorf("replace with the same: %d, %v", n, err)
		}
		check(map[string]map[string]string{"wallets": {"1": "a", "2": "B", "3": "c"}, "farms": {"x": "1", "y": "2"}},
			false)
		if n, err := s.ReplaceReferences(t.Context(), "farms", map[string]string{"y": "3", "z": "4"}, nil); n != 3 ||
			err != nil {
			t.Errorf("replace: %d, %v", n, err)
		}
		if n, err := s.RemoveReferences(t.Context(), "wallets", []string{"1", "none", "1"}, audit); n != 1 ||
			err != nil {
			t.Errorf("remove: %d, %v", n, err)
		}
		check(map[string]map[string]string{"wallets": {"2": "B", "3": "c"}, "farms": {"y": "3", "z": "4"}}, true)
		list, err := s.ListReferences(t.Context(), "wallets")
		if diff := cmp.Diff([]trade.Reference{
			{Kind: "wallets", Code: "2", ID: "B"},
			{Kind: "wallets", Code: "3", ID: "c"},
		}, list); diff != "" || err != nil {
			t.Errorf("list (-want +got):\n%s%v", diff, err)
		}
		if list, err := s.ListReferences(t.Context(), ""); len(list) != 4 || err != nil {
			t.Errorf("list of all: %v, %v", list, err)
		}
		records, err := s.Audit(t.Context(), 2)
		if err != nil || len(records) != 2 || records[0].Seq <= records[1].Seq {
			t.Fatalf("audit: %+v, %v", records, err)
		}
		// What was there is told as it was found, not as somebody saw it before.
		audit.Detail = `[{"code":"2","from":"b","to":"B"},{"code":"3","from":null,"to":"c"}]`
		if diff := cmp.Diff(audit, records[1],
			cmpopts.IgnoreFields(trade.AuditRecord{}, "Seq", "Prev", "Hash")); diff != "" {
			t.Errorf("audit record (-want +got):\n%s", diff)
		}
		if got, want := records[0].Detail, `[{"code":"1","from":"a","to":null}]`; got != want {
			t.Errorf("audit of the removal: %s, want %s", got, want)
		}
		if records, err := s.Audit(t.Context(), 0); len(records) != 3 || err != nil {
			t.Errorf("all audit records: %d, %v", len(records), err)
		}
	})
}

func TestAnImportIsStoredWithItsAuditRecordOrNotAtAll(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		bad := trade.AuditRecord{At: at, Who: "maria", Act: "refs import", Reason: "x"}
		mustExec(t, s, map[string]string{
			sqldb.SQLite:   `CREATE TRIGGER no_audit BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'no'); END`,
			sqldb.Postgres: `CREATE TRIGGER no_audit BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION safrasync_refuse('no')`,
		}[s.db.D.Name])
		if _, _, err := s.ImportReferences(t.Context(), "wallets", map[string]string{"1": "a"}, nil, bad); err == nil {
			t.Fatal("the import was stored without its audit record")
		}
		codes, version, err := s.References(t.Context())
		if len(codes) != 0 || version != "" || err != nil {
			t.Errorf("references: %v, %q, %v", codes, version, err)
		}
	})
}

// A code that was removed is nowhere, and has its former ids again once it is back, each once.
func TestTheFormerIDsOfACodeOutliveItsRemoval(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		ids := []string{sqldb.NewID(), sqldb.NewID(), sqldb.NewID()}
		audit := trade.AuditRecord{At: at, Who: "maria", From: "host", Act: "refs", Target: "farms", Reason: "r"}
		for _, id := range []string{ids[1], "no id", ids[0], ids[1], ids[0], ""} {
			codes := map[string]string{"1": id}
			if id == "" {
				delete(codes, "1")
			}
			must.Get(s.ReplaceReferences(t.Context(), "farms", codes, map[string]string{"1": "a farm"}))(t)
		}
		codes, _, err := s.References(t.Context())
		list := must.Get(s.ListReferences(t.Context(), ""))(t)
		labelled := must.Get(s.Labelled(t.Context(), []trade.Reference{{Kind: "farms", Code: "1"}}))(t)
		former := must.Get(s.FormerReferences(t.Context()))(t)
		if err != nil || len(codes)+len(list)+len(labelled)+len(former) > 0 {
			t.Errorf("a removed code: %v, %v, %v, %v, %v", codes, list, labelled, former, err)
		}
		if n := must.Get(s.RemoveReferences(t.Context(), "farms", []string{"1"}, audit))(t); n != 0 {
			t.Errorf("it was removed %d times", n)
		}
		must.Get(s.ReplaceReferences(t.Context(), "farms", map[string]string{"1": ids[2]}, nil))(t)
		want := map[string]map[string][]string{"farms": {"1": {ids[2], ids[0], ids[1]}}}
		if diff := cmp.Diff(want, must.Get(s.FormerReferences(t.Context()))(t)); diff != "" {
			t.Errorf("former ids (-want +got):\n%s", diff)
		}
	})
}
