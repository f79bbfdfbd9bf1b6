package state

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// What was new is counted for each branch and day of the cooperative's zone.
func TestWhatWasNewIsCountedByBranchAndDay(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		zone := time.FixedZone("-03", -3*60*60)
		midnight := time.Date(2026, 11, 27, 0, 0, 0, 0, zone)
		for i, c := range []struct {
			at     time.Duration
			branch string
			tons   int64
		}{
			{-25 * time.Hour, "01", 1},
			{-time.Minute, "01", 2},
			{0, "01", 3},
			{time.Minute, "02", 4},
			{23 * time.Hour, "01", 5},
		} {
			e := newEntry(fmt.Sprint(i))
			e.FirstSeenAt, e.Facts.Branch = midnight.Add(c.at), c.branch
			e.Payload, e.PayloadHash = nil, ""
			e.State, e.Cause = trade.Invalid, "rule:price"
			e.Error = &trade.EntryError{Kind: trade.MappingError}
			e.Quantity = trade.Quantity{Amount: trade.NewDecimal(c.tons, 0), Unit: "TON"}
			mustRecord(t, s, lease, e)
		}
		day := trade.DateOf(midnight)
		ton := trade.NewDecimal(1000, 0)
		want := []trade.ArrivedDay{
			{Branch: "01", Day: day.AddDays(-1), Rows: 1, Kg: ton.Mul(trade.NewDecimal(2, 0))},
			{Branch: "01", Day: day, Rows: 2, Kg: ton.Mul(trade.NewDecimal(8, 0))},
			{Branch: "02", Day: day, Rows: 1, Kg: ton.Mul(trade.NewDecimal(4, 0))},
		}
		got := must.Get(s.ArrivedDays(t.Context(), "contracts", midnight.AddDate(0, 0, -1)))(t)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if got := must.Get(s.ArrivedDays(t.Context(), "deliveries", midnight))(t); len(got) > 0 {
			t.Errorf("another job: %v", got)
		}
	})
}
