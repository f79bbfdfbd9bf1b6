package trade

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/safrasync/safrasync/internal/must"
)

func TestCodesAreOrderedAsPeopleDo(t *testing.T) {
	t.Parallel()
	// 010 and 10 are the same number: the rest decides, then the length.
	want := []string{
		"", "1", "01", "2", "10", "010", "10|1", "010|1", "010|2", "010|10", "99999999999999999999",
		"100000000000000000000", "A", "A2", "A10", "B1", "a", "ç",
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, CompareCodes)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCompareCodesIsAnOrder(t *testing.T) {
	t.Parallel()
	code := rapid.StringMatching(`[0-2A|]{0,6}`)
	sign := func(n int) int { return max(-1, min(1, n)) }
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := code.Draw(t, "a"), code.Draw(t, "b"), code.Draw(t, "c")
		if sign(CompareCodes(a, b)) != -sign(CompareCodes(b, a)) {
			t.Errorf("CompareCodes(%q, %q) and its reverse agree", a, b)
		}
		if CompareCodes(a, b) == 0 && a != b {
			t.Errorf("%q and %q are taken for equal", a, b)
		}
		if CompareCodes(a, b) < 0 && CompareCodes(b, c) < 0 && CompareCodes(a, c) >= 0 {
			t.Errorf("%q < %q < %q, but %q is not below %q", a, b, c, a, c)
		}
	})
}

func TestWeightsAreExact(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		amount string
		unit   Unit
		kg, t  string
	}{
		{"1500.5", SC, "90030", "90.03"},
		{"0.1", KG, "0.1", "0.0001"},
		{"12345678901234567890.123456", TON, "12345678901234567890123.456", "12345678901234567890.123456"},
		{"2", "sc", "120", "0.12"},
		{"3", "ton", "3000", "3"},
		{"4", "kg", "4", "0.004"},
	} {
		n := must.Get(ParseDecimal(c.amount))(t)
		kg, ok := Quantity{n, c.unit}.Kilograms()
		if !ok || kg.String() != c.kg || kg.Tonnes().String() != c.t {
			t.Errorf("%s %s is %s kg, %s t (%v), want %s kg, %s t", c.amount, c.unit, kg, kg.Tonnes(), ok, c.kg, c.t)
		}
	}
	if _, ok := (Quantity{}).Kilograms(); ok {
		t.Error("an amount without a unit has a weight")
	}
}
