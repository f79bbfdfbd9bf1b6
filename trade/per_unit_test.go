package trade_test

import (
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// A price for one unit is converted to the price for another exactly, or not at all; with a scale
// it is rounded once, at the end.
func TestAPriceForAnotherUnitIsExactOrNone(t *testing.T) {
	t.Parallel()
	two := int32(2)
	for _, c := range []struct {
		price    string
		from, to trade.Unit
		scale    *int32
		want     string // "" = not exact
	}{
		{"2000", trade.TON, trade.SC, nil, "120"},
		{"2008.35", trade.TON, trade.SC, nil, "120.501"},
		{"120.501", trade.SC, trade.TON, nil, "2008.35"},
		{"100", trade.SC, trade.TON, nil, ""},
		{"100", trade.SC, trade.TON, &two, "1666.67"},
		{"0.123456789", trade.TON, trade.KG, nil, "0.000123456789"},
		{"3", trade.SC, trade.KG, nil, "0.05"},
		{"1", trade.SC, trade.KG, nil, ""},
		{"0.07", trade.KG, trade.TON, nil, "70"},
		{"129.5", trade.SC, trade.SC, nil, "129.5"},
		{"129.555", trade.SC, trade.SC, &two, "129.56"},
	} {
		got, exact := must.Get(trade.ParseDecimal(c.price))(t).PerUnit(c.from, c.to, c.scale)
		if exact != (c.want != "") || exact && got.String() != c.want {
			t.Errorf("%s for a %s is %s for a %s (exact: %t), want %q", c.price, c.from, got, c.to, exact, c.want)
		}
	}
}
