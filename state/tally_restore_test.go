package state

import (
	"slices"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/trade"
)

func TestA2SumsThatAreWrongOrNoNumbersAreCountedAnew(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		large, err := trade.ParseDecimal(strings.Repeat("9", 38))
		if err != nil {
			t.Fatal(err)
		}
		for _, job := range []string{"contracts", "deliveries"} {
			lease := mustLease(t, s, job)
			for _, key := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"} {
				e := newEntry(key)
				e.Job, e.Quantity.Amount = job, large
				mustRecord(t, s, lease, e)
			}
		}
		before, err := s.Counts(t.Context(), "contracts")
		if err != nil {
			t.Fatal(err)
		}
		if changed, err := s.RestoreSums(t.Context()); err != nil || len(changed) > 0 {
			t.Errorf("right sums: %v, %v", changed, err)
		}
		for _, damage := range []string{
			`UPDATE tally SET volume = 'a lot' WHERE job = 'contracts'`, `UPDATE tally SET n = n + 1 WHERE job = 'contracts'`,
			`DELETE FROM tally WHERE job = 'contracts'`, `UPDATE tally SET unit = 'KG' WHERE job = 'contracts'`,
		} {
			if err := byHand(s, damage); err != nil {
				t.Fatal(err)
			}
			if uneven, err := s.UnevenSums(t.Context()); err != nil || !slices.Equal(uneven, []string{"contracts"}) {
				t.Errorf("%s: uneven %v, %v", damage, uneven, err)
			}
			if changed, err := s.RestoreSums(t.Context()); err != nil || !slices.Equal(changed, []string{"contracts"}) {
				t.Errorf("%s: put right %v, %v", damage, changed, err)
			}
			if after, err := s.Counts(t.Context(), "contracts"); err != nil || !slices.EqualFunc(before, after, sameTally) {
				t.Errorf("%s: %v, %v; want %v", damage, after, err, before)
			}
		}
	})
}
