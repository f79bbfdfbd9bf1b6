package state

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// The ids of runs and attempts are in the order of time, which a range of ids relies on.
func TestAnIDOfATimeLiesAtOrAboveTheFirstIDOfThatTime(t *testing.T) {
	t.Parallel()
	before := time.Now()
	id := sqldb.NewID()
	after := time.Now()
	if low, high := sqldb.IDsFrom(before), sqldb.IDsFrom(after.Add(time.Second)); id < low || id >= high {
		t.Errorf("%s is not from %s to %s", id, low, high)
	}
	if _, err := uuid.Parse(sqldb.IDsFrom(at) + "-7000-8000-000000000000"); err != nil {
		t.Errorf("the first id of a time has another form: %v", err)
	}
	if got := sqldb.IDsFrom(time.Unix(-5, 0)); got != "00000000-0000" {
		t.Errorf("before 1970: %s", got)
	}
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
