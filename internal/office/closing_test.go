package office

import (
	"testing"

	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// Who is shown the plan of a closing and agrees at once waits for one reading of the ledger.
func TestAClosingReadsTheLedgerOnce(t *testing.T) {
	t.Parallel()
	open, _ := openStuck(t)
	o, read, rows := open(), 0, 0
	with := ReportSources{Progress: func(_ int, all bool) {
		if all {
			read++
		}
	}}
	who := trade.Person{Name: "Maria", Role: trade.Accountant, Reason: "o mês está certo"}
	_, _, err := o.CloseReport(t.Context(), trade.DateOf(Now()), with, who,
		func(p reconcile.ClosingPlan) (bool, error) {
			rows = p.Rows
			return true, nil
		})
	if read != 1 || rows != 9 || err != nil {
		t.Errorf("%d readings, %d rows, %v", read, rows, err)
	}
}
