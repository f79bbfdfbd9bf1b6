package state

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

func TestAgesAreThoseOfTheOldestRows(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		if got, err := s.Ages(t.Context(), "contracts"); err != nil || got != (trade.Ages{}) {
			t.Fatalf("ages of a job without rows: %+v, %v", got, err)
		}
		must.Do(t, s.StartRun(t.Context(),
			trade.RunReport{ID: "r1", Job: "contracts", StartedAt: at.Add(-time.Hour)}))
		lease := mustLease(t, s, "contracts")
		var rows []trade.Entry
		for i := range 4 {
			e := newEntry(fmt.Sprint(i))
			e.FirstSeenAt = at.Add(time.Duration(i) * time.Minute)
			rows = append(rows, e)
		}
		rows = mustRecord(t, s, lease, rows...)
		sent := mustSend(t, s, lease, rows[0])
		mustSettle(t, s, lease, created(sent, "id-0"))
		doubt := mustSend(t, s, lease, rows[1])
		mustSettle(t, s, lease, unknown(doubt))
		want := trade.Ages{
			Unsent:  at.Add(2 * time.Minute).Truncate(time.Millisecond),
			Pending: at.Add(2 * time.Minute).Truncate(time.Millisecond), InDoubt: at.Truncate(time.Millisecond),
			Newest:   at.Add(3 * time.Minute).Truncate(time.Millisecond),
			FirstRun: at.Add(-time.Hour).Truncate(time.Millisecond),
		}
		got, err := s.Ages(t.Context(), "contracts")
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("ages (-want +got):\n%s%v", diff, err)
		}
	})
}

// The ids of runs and attempts are in the order of time, which a range of ids relies on.
func TestAnIDOfATimeLiesAtOrAboveTheFirstIDOfThatTime(t *testing.T) {
	t.Parallel()
	before := time.Now()
	id := sqldb.NewID()
	after := time.Now()
	if low, high := idsFrom(before), idsFrom(after.Add(time.Second)); id < low || id >= high {
		t.Errorf("%s is not from %s to %s", id, low, high)
	}
	if _, err := uuid.Parse(idsFrom(at) + "-7000-8000-000000000000"); err != nil {
		t.Errorf("the first id of a time has another form: %v", err)
	}
	if got := idsFrom(time.Unix(-5, 0)); got != "00000000-0000" {
		t.Errorf("before 1970: %s", got)
	}
}

func TestRunsAreToldByTheirEnds(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		for i, r := range []trade.RunReport{
			{ID: sqldb.NewID(), Job: "contracts", StartedAt: at, EndedAt: at.Add(2 * time.Minute), Read: 1},
			{ID: sqldb.NewID(), Job: "deliveries", StartedAt: at, EndedAt: at.Add(time.Minute), Read: 2},
			{ID: sqldb.NewID(), Job: "contracts", StartedAt: at, Read: 3}, // it has not ended
			{ID: sqldb.NewID(), Job: "contracts", StartedAt: at, EndedAt: at.Add(3 * time.Minute), Read: 4},
		} {
			if err := s.FinishRun(t.Context(), r); err != nil {
				t.Fatalf("run %d: %v", i, err)
			}
		}
		var got []int
		err := s.RunsEnded(t.Context(), at.Add(time.Minute), at.Add(3*time.Minute), func(r trade.RunReport) error {
			got = append(got, r.Read)
			return nil
		})
		if diff := cmp.Diff([]int{2, 1}, got); diff != "" || err != nil {
			t.Errorf("runs (-want +got):\n%s%v", diff, err)
		}
	})
}

func TestWhatWasSentIsWhatThePlatformConfirmed(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		rows := mustRecord(t, s, lease, newEntry("1"), newEntry("2"), newEntry("3"), newEntry("4"))
		for i, settle := range []func(trade.Attempt) trade.Settlement{
			func(a trade.Attempt) trade.Settlement { return created(a, "id-1") },
			unknown,
			refused,
			func(a trade.Attempt) trade.Settlement { // confirmed later
				st := created(a, "id-4")
				st.Attempt.FinishedAt = at.Add(time.Hour)
				return st
			},
		} {
			mustSettle(t, s, lease, settle(mustSend(t, s, lease, rows[i])))
		}
		var got []trade.Sent
		from := at.Truncate(time.Millisecond)
		err := s.Sent(t.Context(), from, at.Add(time.Hour), func(sent trade.Sent) error {
			got = append(got, sent)
			return nil
		})
		want := []trade.Sent{{
			Job: "contracts", Sends: trade.OrderCommitments,
			Payload: json.RawMessage(`{"key":"1"}`), At: from,
		}}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("sent (-want +got):\n%s%v", diff, err)
		}
		payloads, err := s.PayloadsOf(t.Context(), trade.OrderCommitments, []string{"id-1", "id-4", "id-9"})
		if diff := cmp.Diff(map[string]json.RawMessage{"id-1": []byte(`{"key":"1"}`), "id-4": []byte(`{"key":"4"}`)},
			payloads); diff != "" || err != nil {
			t.Errorf("payloads (-want +got):\n%s%v", diff, err)
		}
		if payloads, err := s.PayloadsOf(t.Context(), trade.Deliveries, []string{"id-1"}); len(payloads) != 0 ||
			err != nil {
			t.Errorf("payloads of another kind: %v, %v", payloads, err)
		}
	})
}

func TestActsAreCountedByName(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		for i, act := range []string{"dismiss", "dismiss", "adopt"} {
			must.Do(t, s.AppendAudit(t.Context(),
				trade.AuditRecord{At: at.Add(time.Duration(i) * time.Hour), Who: "maria", Act: act}))
		}
		got, err := s.Acts(t.Context(), at.Truncate(time.Millisecond), at.Add(2*time.Hour))
		if diff := cmp.Diff(map[string]int{"dismiss": 2}, got); diff != "" || err != nil {
			t.Errorf("acts (-want +got):\n%s%v", diff, err)
		}
	})
}

func TestTheRoomOfTheLedgersFoldersIsTold(t *testing.T) {
	t.Parallel()
	for _, b := range backends {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			o := b.open(t)
			o.Journal = t.TempDir()
			tune := sqldb.DefaultTuning
			tune.Free = func(string) (uint64, bool) { return sqldb.LowSpace - 1, true }
			s := mustOpenTuned(t, o, tune)
			want := map[string]int{sqldb.SQLite: 2, sqldb.Postgres: 1}[b.name]
			spaces := s.Spaces()
			if len(spaces) != want {
				t.Fatalf("%d folders, want %d: %v", len(spaces), want, spaces)
			}
			for _, space := range spaces {
				if !space.Low || space.Free != sqldb.LowSpace-1 || space.Folder == "" {
					t.Errorf("%+v", space)
				}
			}
		})
	}
}
