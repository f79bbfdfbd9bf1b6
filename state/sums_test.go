package state

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

func TestASumMayHaveMoreDigitsThanAnAmount(t *testing.T) {
	t.Parallel()
	whole, fraction := strings.Repeat("9", 30), strings.Repeat("1", 30)
	for _, text := range []string{whole + "." + fraction, "-" + whole + "." + fraction, "0", "-0.5", "12.25"} {
		n, err := trade.ParseSum(text)
		if err != nil || n.String() != text {
			t.Errorf("trade.ParseSum(%s) = %s, %v", text, n, err)
		}
	}
	if _, err := trade.ParseSum("a.b"); err == nil {
		t.Error("trade.ParseSum(a.b) gave no error")
	}
}

// Amounts that the column volume holds and those that it does not add up exactly, also many of the
// largest that a field may hold.
func TestSumsAreExactAtAnySize(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		want, entries := trade.Decimal{}, []trade.Entry(nil)
		for i, amount := range []string{
			"99999999.9999", "-99999999.9999", "99999999.9999", "100000000", "0.0001", "0.00001", "12.50000", "-7",
			strings.Repeat("9", 38), strings.Repeat("9", 38), "0." + strings.Repeat("3", 37), "0",
		} {
			e := newEntry(string(rune('a' + i)))
			e.Quantity.Amount = must.Get(trade.ParseDecimal(amount))(t)
			want = want.Add(e.Quantity.Amount)
			entries = append(entries, e)
		}
		mustRecord(t, s, lease, entries...)
		mustAddUp(t, s, "contracts")
		got := must.Get(s.Counts(t.Context(), "contracts"))(t)
		if diff := cmp.Diff([]trade.Tally{{
			State: trade.Pending, Count: len(entries), Quantity: trade.Quantity{Amount: want, Unit: trade.SC},
		}}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		// What somebody writes by hand is added from its text.
		must.Do(t, byHand(s, `UPDATE entry SET amount = '1.5', volume = NULL WHERE key = 'd'`))
		got = must.Get(s.Counts(t.Context(), "contracts"))(t)
		hundred := must.Get(trade.ParseDecimal("99999998.5"))(t)
		if !got[0].Quantity.Amount.Equal(want.Sub(hundred)) {
			t.Errorf("%v", got)
		}
		must.Do(t, byHand(s, `UPDATE entry SET amount = 'a lot' WHERE key = 'd'`))
		_, err := s.Counts(t.Context(), "contracts")
		says(t, err, "is damaged: its amount is not a number")
	})
}
