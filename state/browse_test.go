package state

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

func TestRowsAreFilteredAndOrdered(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		first, second := mustLease(t, s, "b-job"), mustLease(t, s, "a-job")
		row := func(key string, state trade.State, cause string, updated time.Time, flags ...trade.Flag) trade.Entry {
			e := newEntry(key)
			e.State, e.Cause, e.UpdatedAt, e.Flags = state, cause, updated, flags
			return e
		}
		mustRecord(t, s, first, row("1", trade.Invalid, "rule:payday", at, trade.EchoDiffers, trade.Twin),
			row("2", trade.Waiting, "ref:wallets", at.Add(time.Hour), trade.Changed), row("3", trade.Pending, "", at))
		mustRecord(t, s, second, row("9", trade.Invalid, "rule:price", at.Add(time.Hour)),
			row("2", trade.Held, "vanished", at, trade.Twin))
		for _, c := range []struct {
			name   string
			filter trade.RowFilter
			want   []string
		}{
			{"everything", trade.RowFilter{}, []string{"a-job 9", "a-job 2", "b-job 1", "b-job 2", "b-job 3"}},
			{"a job", trade.RowFilter{Job: "b-job"}, []string{"b-job 1", "b-job 2", "b-job 3"}},
			{
				"states",
				trade.RowFilter{States: []trade.State{trade.Invalid, trade.Held}},
				[]string{"a-job 9", "a-job 2", "b-job 1"},
			},
			{
				"states, and a limit in the midst",
				trade.RowFilter{
					Job: "b-job", States: []trade.State{trade.Pending, trade.Waiting, trade.Invalid},
					Limit: 2,
				},
				[]string{"b-job 1", "b-job 2"},
			},
			{"states and a flag", trade.RowFilter{
				States: []trade.State{trade.Invalid, trade.Waiting},
				Flags:  []trade.Flag{trade.Twin},
			}, []string{"b-job 1"}},
			{"causes", trade.RowFilter{Causes: []string{"rule:payday", "vanished"}}, []string{"a-job 2", "b-job 1"}},
			{"a flag", trade.RowFilter{Flags: []trade.Flag{trade.Twin}}, []string{"a-job 2", "b-job 1"}},
			{
				"one of two flags",
				trade.RowFilter{Flags: []trade.Flag{trade.Changed, trade.EchoDiffers}},
				[]string{"b-job 1", "b-job 2"},
			},
			{"a key", trade.RowFilter{Key: "2"}, []string{"a-job 2", "b-job 2"}},
			{"since", trade.RowFilter{Since: at.Add(time.Hour)}, []string{"a-job 9", "b-job 2"}},
			{"a limit", trade.RowFilter{Limit: 3}, []string{"a-job 9", "a-job 2", "b-job 1"}},
			{
				"all together",
				trade.RowFilter{
					Job: "b-job", States: []trade.State{trade.Waiting},
					Causes: []string{"ref:wallets"}, Flags: []trade.Flag{trade.Changed}, Key: "2", Since: at, Limit: 1,
				},
				[]string{"b-job 2"},
			},
			{"nothing", trade.RowFilter{Job: "none"}, nil},
		} {
			var got []string
			if err := s.Rows(t.Context(), c.filter, func(e trade.Entry) error {
				got = append(got, e.Job+" "+e.Key)
				return nil
			}); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.name, diff)
			}
		}
		stop := errors.New("enough")
		if err := s.Rows(t.Context(), trade.RowFilter{},
			func(trade.Entry) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("Rows: %v, want the function's own error", err)
		}
		if _, err := s.Entry(t.Context(), "b-job", "none"); !errors.Is(err, sqldb.ErrNotFound) {
			t.Errorf("Entry: %v, want ErrNotFound", err)
		}
		jobs, err := s.Jobs(t.Context())
		if diff := cmp.Diff([]string{"a-job", "b-job"}, jobs); diff != "" || err != nil {
			t.Errorf("jobs (-want +got):\n%s%v", diff, err)
		}
		counts, err := s.FlagCounts(t.Context(), "b-job")
		if diff := cmp.Diff(map[trade.Flag]int{trade.EchoDiffers: 1, trade.Twin: 1, trade.Changed: 1},
			counts); diff != "" || err != nil {
			t.Errorf("flag counts (-want +got):\n%s%v", diff, err)
		}
	})
}

func TestRunsAreKeptNewestFirst(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		three := 3
		first := trade.RunReport{
			ID: sqldb.NewID(), Job: "contracts", StartedAt: at, States: map[trade.State]int{},
			Flags: map[trade.Flag]int{},
		}
		// The clock was set back between the two: the order is that of the records.
		second := trade.RunReport{
			ID: sqldb.NewID(), Job: "contracts", StartedAt: at.Add(-time.Hour),
			States: map[trade.State]int{},
		}
		other := trade.RunReport{ID: sqldb.NewID(), Job: "others", StartedAt: at}
		for _, r := range []trade.RunReport{first, second, other} {
			must.Do(t, s.StartRun(t.Context(), r))
		}
		first.EndedAt, first.Sweep, first.InScope, first.Gone, first.Sent = at.Add(time.Minute), true, &three,
			new(int), 2
		first.States[trade.Accepted], first.Flags[trade.Twin], first.Notes = 3, 1, []string{"a remark"}
		first.Stopped = &trade.Stop{
			Code: "key", Text: "the key was refused", All: true, Sends: trade.OrderCommitments,
			Until: at.Add(time.Hour),
		}
		must.Do(t, s.FinishRun(t.Context(), first))
		runs, err := s.Runs(t.Context(), "contracts", 0)
		if diff := cmp.Diff([]trade.RunReport{second, first}, runs, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("runs (-want +got):\n%s%v", diff, err)
		}
		if runs, err := s.Runs(t.Context(), "", 2); len(runs) != 2 || err != nil || runs[0].Job != "others" {
			t.Errorf("runs of all jobs: %v, %v", runs, err)
		}
	})
}

func TestAJobStandsWhereItWasPut(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		status, err := s.JobStatus(t.Context(), "contracts")
		if diff := cmp.Diff(trade.JobStatus{Job: "contracts", State: trade.Idle}, status); diff != "" || err != nil {
			t.Errorf("a new job (-want +got):\n%s%v", diff, err)
		}
		for _, want := range []trade.JobStatus{
			{
				Job: "contracts", State: trade.Stopped, Since: at,
				Stop: &trade.Stop{Code: "key", Text: "x", All: true, Until: at},
			},
			{
				Job: "contracts", State: trade.Stopped, Since: at,
				Stop: &trade.Stop{Code: "module", Text: "x", Sends: trade.OrderCommitments},
			},
			{Job: "contracts", State: trade.Running, Since: at.Add(time.Second)},
		} {
			must.Do(t, s.SetJobStatus(t.Context(), want))
			got, err := s.JobStatus(t.Context(), "contracts")
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("status (-want +got):\n%s%v", diff, err)
			}
		}
	})
}

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

// Rows of several states come in the order of their numbers, each once, over more than one page.
func TestRowsOfSeveralStatesComeInOneOrder(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		states := []trade.State{trade.Invalid, trade.Waiting, trade.Held, trade.Invalid, trade.Pending}
		var page []trade.Entry
		var want []string
		for i := range 3*entryPage + 7 {
			e := newEntry(fmt.Sprintf("01|%04d", i))
			if e.State = states[i%len(states)]; e.State != trade.Pending {
				e.Cause = "rule:payday"
				want = append(want, e.Key)
			}
			page = append(page, e)
		}
		mustRecord(t, s, lease, page...)
		for _, limit := range []int{0, 1, entryPage, 2*entryPage + 1} {
			var got []string
			for _, e := range rowsOf(t, s, trade.RowFilter{
				States: []trade.State{trade.Held, trade.Invalid, trade.Waiting}, Limit: limit,
			}) {
				got = append(got, e.Key)
			}
			most := limit
			if limit == 0 {
				most = len(want)
			}
			if diff := cmp.Diff(want[:most], got); diff != "" {
				t.Errorf("limit %d (-want +got):\n%s", limit, diff)
			}
		}
	})
}
