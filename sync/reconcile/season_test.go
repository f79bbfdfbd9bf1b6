package reconcile

import (
	"testing"
	"time"

	"github.com/safrasync/safrasync/trade"
)

type seasonRows []Row

func (s seasonRows) each(_ trade.Kind, _ bool, _ []int64, fn func(*Row) error) error {
	for i := range s {
		if err := fn(&s[i]); err != nil {
			return err
		}
	}
	return nil
}

// The season weighs contracts once, by product, branch and state; what waits for a reference and what
// the ERP has beside its documents are apart, and the age of what does not go is that since it was seen.
func TestTheSeasonWeighsContractsByProductAndState(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	row := func(state trade.State, product, branch, kind, cause string, sacas, price int64, days int) Row {
		amount, each := trade.NewDecimal(sacas, 0), trade.NewDecimal(price, 0)
		return Row{
			Job: "contracts", Sends: trade.OrderCommitments, Key: "k", Seen: now.AddDate(0, 0, -days),
			Standing: Standing{State: state, Cause: cause},
			Document: Document{Product: product, Branch: branch, OrderType: kind, Day: "2026-11-01"},
			ERP:      trade.Figures{Amount: &amount, Unit: "SC", Price: &each, Currency: "BRL"},
		}
	}
	rows := seasonRows{
		row(trade.Accepted, "SOJA", "01", "COMPRA", "", 100, 10, 0),
		row(trade.Waiting, "SOJA", "01", "COMPRA", "ref:wallets", 50, 10, 3),
		row(trade.Invalid, "MILHO", "02", "A_FIXAR", "rule:payday", 10, 0, 40),
		row(trade.Accepted, "SOJA", "01", "FIXACAO_COMPRA", "", 30, 10, 0), // the same grain as a contract
		row(trade.Withdrawn, "SOJA", "01", "COMPRA", "", 500, 10, 0),
	}
	s := &Snapshot{rows: rows, Head: Head{At: now, Jobs: []JobHead{{
		Job: "contracts", Sends: trade.OrderCommitments,
		Beside: []trade.Beside{
			{Why: trade.BesideDouble, Products: []trade.ProductSums{{
				Product: "SOJA", OrderType: "COMPRA", Sums: trade.Sums{Rows: 1, Kilograms: trade.NewDecimal(60, 0)},
			}}},
			{Why: trade.BesideCancelled, Products: []trade.ProductSums{{
				Product: "SOJA", OrderType: "COMPRA", Sums: trade.Sums{Rows: 1, Kilograms: trade.NewDecimal(600, 0)},
			}}},
		},
	}}}}
	got, err := s.Season(func(e trade.Entry) trade.Fixer {
		if e.State == trade.Waiting {
			return trade.FixReferences
		}
		return trade.FixERP
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Products) != 2 || got.Products[0].Name != "SOJA" || got.Products[0].All.Kilograms.String() != "9000" ||
		got.Products[0].States[trade.Accepted].Kilograms.String() != "6000" {
		t.Errorf("products: %+v", got.Products)
	}
	if len(got.Branches) != 2 || got.Whole.All.Rows != 3 || got.Lost[StageKnown].Kilograms.String() != "3000" ||
		got.Beside.Kilograms.String() != "60" {
		t.Errorf("whole: %+v, branches %+v", got, got.Branches)
	}
	if len(got.Days) != 1 || got.Days[0].ERP.String() != "1800" || got.Days[0].Sent.String() != "1300" {
		t.Errorf("days: %+v", got.Days)
	}
	if got.Ages[trade.FixReferences.Department()][1].Rows != 1 || got.Ages[trade.FixERP.Department()][3].Rows != 1 {
		t.Errorf("ages: %+v", got.Ages)
	}
}
