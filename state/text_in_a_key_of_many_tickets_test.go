package state

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/trade"
)

// A number is found in all jobs that have it, also in one whose keys begin with the ticket, so that
// nearly each of them begins otherwise.
func TestANumberThatAContractHasIsAlsoFoundAmongManyTickets(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		mustRecord(t, s, mustLease(t, s, "contracts"), newEntry("5043|1"))
		var tickets []trade.Entry
		for i := range 1100 {
			tickets = append(tickets, newEntry(fmt.Sprintf("%d|1", 4000+i)))
		}
		mustRecord(t, s, mustLease(t, s, "deliveries"), tickets...)
		page, err := s.RowPage(t.Context(), trade.RowQuery{Text: "5043", Sort: trade.OldestFirst, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range page.Rows {
			got = append(got, e.Job+" "+e.Key)
		}
		if diff := cmp.Diff([]string{"contracts 5043|1", "deliveries 5043|1"}, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}
