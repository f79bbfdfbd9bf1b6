package state

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// A text finds the rows with these whole words, or else with words that begin so, or else with the
// text anywhere in their keys, in all jobs and whatever a key has in it.
func TestATextIsFoundAnywhereInAKey(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		fillLarge(t, s, 250)
		lease, other := mustLease(t, s, "contracts"), mustLease(t, s, "deliveries")
		mustRecord(t, s, lease, newEntry("01|A234/2026"), newEntry("01|ra\nb0"), newEntry("01|100%_'"))
		mustRecord(t, s, other, newEntry("01|x\n0"), newEntry("01|São João á0"))
		for text, want := range map[string][]string{
			"|00000012": {
				"04|000000120", "05|000000121", "06|000000122", "07|000000123", "08|000000124", "09|000000125",
				"01|000000126", "02|000000127", "03|000000128", "04|000000129",
			},
			"124": {"08|000000124"}, "000000124": {"08|000000124"}, "8/124": {"08|000000124"},
			"08|000000124": {"08|000000124"}, "4/2026": {"01|A234/2026"}, "a234": {"01|A234/2026"},
			"234/2026": {"01|A234/2026"}, "a\nb": {"01|ra\nb0"}, "x\n": {"01|x\n0"}, "sao joão": {"01|São João á0"},
			"oão á": {"01|São João á0"}, "0%_'": {"01|100%_'"}, "nowhere": nil, "%": {"01|100%_'"},
		} {
			page := must.Get(s.RowPage(t.Context(), trade.RowQuery{Text: text, Sort: trade.OldestFirst, Limit: 20}))(t)
			var got []string
			for _, e := range page.Rows {
				got = append(got, e.Key)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q (-want +got):\n%s", text, diff)
			}
		}
	})
}

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
