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

// A season weighs contracts once, by product, branch and state; the age of
// what does not go is that since it was seen, and no two seasons are added up.
func TestASeasonWeighsContractsByProductAndState(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	row := func(state trade.State, product, branch, kind, cause string, sacas, price int64, days int) Row {
		amount, each := trade.NewDecimal(sacas, 0), trade.NewDecimal(price, 0)
		return Row{
			Job: "contracts", Sends: trade.OrderCommitments, Key: "k", Seen: now.AddDate(0, 0, -days),
			SendingState: SendingState{State: state, Cause: cause},
			Document: Document{
				Product: product, Branch: branch, OrderType: kind, Day: "2026-11-01", Harvest: "2026/2027",
			},
			ERP: trade.Figures{Amount: &amount, Unit: "SC", Price: &each, Currency: "BRL"},
		}
	}
	rows := seasonRows{
		row(trade.Accepted, "SOJA", "01", "COMPRA", "", 100, 10, 0),
		row(trade.Waiting, "SOJA", "01", "COMPRA", "ref:wallets", 50, 10, 3),
		row(trade.Invalid, "MILHO", "02", "A_FIXAR", "rule:payday", 10, 0, 40),
		row(trade.Accepted, "SOJA", "01", "FIXACAO_COMPRA", "", 30, 10, 0), // the same grain as a contract
		row(trade.Withdrawn, "SOJA", "01", "COMPRA", "", 500, 10, 0),
	}
	other, unknown := rows[0], rows[1]
	other.Harvest, unknown.Harvest = "2025/2026", ""
	rows = append(rows, other, unknown)
	behind, held := rows[1], rows[1] // the one waits for a row, somebody decides about the other: both stand elsewhere
	behind.Sends, behind.Cause = trade.Deliveries, trade.CauseParent
	held.Sends, held.State = trade.Deliveries, trade.Held
	rows = append(rows, behind, held)
	for i := range rows {
		rows[i].Number = int64(i + 1)
	}
	s := &Snapshot{rows: rows, Head: Head{At: now}}
	list, err := s.Seasons(func(e trade.Entry) trade.Fixer {
		if e.State == trade.Waiting {
			return trade.FixReferences
		}
		return trade.FixERP
	})
	if err != nil || len(list) != 3 || list[0].Harvest != "2026/2027" || list[1].Harvest != "2025/2026" ||
		list[2].Products[0].Figure().Kilograms.String() != "3000" {
		t.Fatalf("%+v, %v", list, err)
	}
	got := list[0]
	if len(got.Products) != 2 || got.Products[0].Name != "SOJA" || got.Products[0].Figure().Kilograms.String() != "9000" ||
		got.Products[0].States[trade.Accepted].Kilograms.String() != "6000" {
		t.Errorf("products: %+v", got.Products)
	}
	if len(got.Branches) != 2 {
		t.Errorf("branches %+v", got.Branches)
	}
	if got.Missing.String() != "500" {
		t.Errorf("missing: %+v", got.Missing)
	}
	if got.Ages[trade.FixReferences.Department()][1].Rows != 1 || got.Ages[trade.FixERP.Department()][3].Rows != 1 ||
		got.Ages[trade.FixERP.Department()][1].Rows != 0 {
		t.Errorf("ages: %+v", got.Ages)
	}
}

// The season of documents without one is never the present one, unless there is no other.
func TestTheUnknownSeasonIsThePresentOneOnlyAlone(t *testing.T) {
	t.Parallel()
	var rows seasonRows
	for i, harvest := range []string{"2025/2026", "", ""} {
		rows = append(rows, Row{
			Job: "contracts", Sends: trade.OrderCommitments, Number: int64(i + 1),
			SendingState: SendingState{State: trade.Pending}, Document: Document{Harvest: harvest},
		})
	}
	fixer := func(trade.Entry) trade.Fixer { return trade.FixERP }
	list, err := (&Snapshot{rows: rows}).Seasons(fixer)
	if err != nil || len(list) != 2 || list[0].Harvest != "2025/2026" {
		t.Errorf("%+v, %v", list, err)
	}
	list, err = (&Snapshot{rows: rows[1:]}).Seasons(fixer)
	if err != nil || len(list) != 1 || list[0].Harvest != "" {
		t.Errorf("alone: %+v, %v", list, err)
	}
}
