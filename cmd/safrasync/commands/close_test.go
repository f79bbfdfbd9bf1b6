package commands_test

import (
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// A limit in R$ spares an act other people only where its whole value is known.
func TestAClosingHasAValueOnlyWhereAllOfItHasOne(t *testing.T) {
	ten, _ := trade.ParseDecimal("10")
	value := func(currency string) reconcile.Amounts {
		return reconcile.Amounts{Values: map[string]trade.Decimal{currency: ten}}
	}
	for name, c := range map[string]struct {
		totals []reconcile.Total
		known  bool
	}{
		"all in R$":         {[]reconcile.Total{{Amounts: value("BRL")}, {Amounts: value("BRL")}}, true},
		"dollars":           {[]reconcile.Total{{Amounts: value("BRL")}, {Amounts: value("USD")}}, false},
		"one has no price":  {[]reconcile.Total{{Amounts: value("BRL"), Unpriced: 1}}, false},
		"only deliveries":   {[]reconcile.Total{{Rows: 3}}, false},
		"nothing was found": {nil, false},
	} {
		var plan reconcile.ClosingPlan
		plan.Totals = c.totals
		p := must.Get(office.ClosingOrder(trade.Date{}, plan, false))(t)
		if known := p.Value != nil; known != c.known {
			t.Errorf("%s: the value is known: %v", name, known)
		}
	}
}
