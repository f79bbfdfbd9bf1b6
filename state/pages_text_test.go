package state

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/trade"
)

// A text is found wherever it stands in a key: in rows that were there when somebody searched
// first, in those that came since, and in those of another job, whatever a key has in it.
func TestATextIsFoundAnywhereInAKey(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		fillLarge(t, s, 250)
		var keys []string
		for _, e := range rowsOf(t, s, trade.RowFilter{}) {
			keys = append(keys, e.Key)
		}
		lease, other := mustLease(t, s, "contracts"), mustLease(t, s, "deliveries")
		for round := range 4 {
			texts := []string{"|000000", "|00000012", "4/2026", "á", "\n", "a\nb", "b0", "nowhere", "A"}
			for range 10 {
				key := keys[rand.IntN(len(keys))]
				from := 1 + rand.IntN(len(key)-1)
				for !utf8.RuneStart(key[from]) {
					from--
				}
				texts = append(texts, key[from:])
			}
			for _, text := range texts {
				if strings.Trim(text, "0123456789") == "" ||
					slices.ContainsFunc(keys,
						func(key string) bool {
							return strings.HasPrefix(key, text) || strings.Contains(key, "|"+text)
						}) {
					continue // it is taken for the beginning that it is
				}
				var want []string
				for _, key := range keys {
					if strings.Contains(key, text) {
						want = append(want, key)
					}
				}
				slices.Sort(want)
				var got []string
				for q := (trade.RowQuery{Text: text, Sort: trade.OldestFirst, Limit: 200}); ; {
					page, err := s.RowPage(t.Context(), q)
					if err != nil {
						t.Fatalf("%q: %v", text, err)
					}
					for _, e := range page.Rows {
						got = append(got, e.Key)
					}
					if q.After = page.Next; q.After == "" {
						break
					}
				}
				slices.Sort(got)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("round %d, %q (-want +got):\n%s", round, text, diff)
				}
			}
			for i, key := range []string{
				fmt.Sprintf("01|%d234/2026", round), fmt.Sprintf("01|x\n%d", round),
				fmt.Sprintf("01|ra\nb%d", round), fmt.Sprintf("01|São João á%d", round),
			} {
				e, job := newEntry(key), lease
				if e.Job = "contracts"; i%2 == 1 {
					e.Job, job = "deliveries", other
				}
				mustRecord(t, s, job, e)
				keys = append(keys, key)
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
