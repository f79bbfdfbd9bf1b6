package sync_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// Under a mix of faults most doubts are settled without a person, none wrongly: what is settled has
// the record that was made of it, and what was never made is never settled. docs/reliability.md has
// the figures.
func TestF142TheShareOfDoubtsThatNobodyNeedDecide(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		rows, gateway := 50, "504"
		if long {
			rows, gateway = 2000, "502" // after which nobody rests
		}
		b := hearBench(t, db, sandbox.Options{
			Seed: 7,
			Events: eventFaults(t, "CREATE_ORDER_COMMITMENT:lost%5", "late=50ms,again=2%30", "swapped%20",
				"shape=nested%20", "invented,forged%5"),
		})
		b.limits.StopAfterUnknown, b.limits.MaxInFlight = 0, 1
		b.api.SetFaults(faults(t,
			"order_commitments:lost-after%20", "order_commitments:lost-before%10",
			"order_commitments:status=500,commit%10", "order_commitments:status="+gateway+"%5",
			"order_commitments:cut%5",
			"order_commitments:noid%5", "get:order_commitments:status=500%10",
			"get:order_commitments:status=404%10")...)
		b.contracts(rows)
		for range 10 {
			b.sync(engine.Options{})
			b.clock.advance(time.Minute)
		}
		made := map[string]string{} // id by amount
		for _, r := range b.api.Created() {
			made[r.Fields["amount"].(interface{ String() string }).String()] = r.ID
		}
		for range 8 + rows/10 { // of many records only some are read back at each look
			b.hear()
			b.clock.advance(45 * time.Second / time.Duration(1+rows/100))
		}
		records, err := b.ledger.Audit(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		settled := 0
		for _, r := range records {
			if r.Act == "evidence" {
				settled++
			}
		}
		doubts, open := settled, 0
		for num := 1; num <= rows; num++ {
			e := b.entry(num)
			id, there := made[strconv.Itoa(num)]
			switch {
			case e.State == trade.Accepted && e.RemoteID != id:
				t.Errorf("row %d has the id %s, and was made as %s", num, e.RemoteID, id)
			case e.State == trade.InDoubt:
				doubts++
				if there {
					open++
				}
			}
		}
		exist := settled + open
		if settled == 0 || settled*10 < exist*7 {
			t.Errorf("of %d doubts %d were made, and %d settled without a person: fewer than seven in ten", doubts,
				exist, settled)
		}
		t.Logf(
			"%d rows, %d in doubt: %d were made, of which %d (%d%%) were settled without a person and %d wait for one; %d were never made and wait for one", rows, doubts, exist, settled, 100*settled/max(exist, 1), open, doubts-exist)
	})
}
