package words

import (
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// People read tonnes to the kilogram; JSON has every digit.
func TestACommandShowsTonnesToTheKilogram(t *testing.T) {
	t.Parallel()
	v := Voice{Lang: trade.Portuguese}
	for kg, want := range map[string]string{
		"119145216467.5": "≈ 119.145.216,468 t", "6001": "6,001 t", "60000": "60 t",
	} {
		weight := must.Get(trade.ParseDecimal(kg))(t)
		if got := v.Tonnes(weight); got != want {
			t.Errorf("%s kg: %s, want %s", kg, got, want)
		}
	}
}
