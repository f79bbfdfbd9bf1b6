package sync_test

import (
	gosync "sync"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// Of several instances that hear on one ledger, each record is read back by one, and a doubt is
// settled once.
func TestF148OfSeveralInstancesEachRecordIsReadBackByOne(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := hearBench(t, db, sandbox.Options{})
		b.api.SetFaults(faults(t, "order_commitments:lost-after@1")...)
		b.contracts(1)
		b.sync(engine.Options{})
		const others = 15
		for range others {
			b.tell("CREATE_ORDER_COMMITMENT", `{"id":"`+strange()+`"}`)
		}
		if err := b.api.WaitDeliveries(t.Context()); err != nil {
			t.Fatal(err)
		}
		// the events are looked at, and it is too early to read: then all see the same records due
		if _, err := b.hearing().Pass(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.clock.advance(4 * time.Second)
		before := b.gets()
		var instances []*engine.EventProcessor
		for range 4 {
			instances = append(instances, b.hearing())
		}
		passes := func() {
			var working gosync.WaitGroup
			for _, h := range instances {
				working.Go(func() {
					for range 3 {
						if _, err := h.Pass(t.Context()); err != nil {
							t.Error(err)
						}
					}
				})
			}
			working.Wait()
		}
		passes()
		if n := b.gets() - before; n != others+1 {
			t.Errorf("%d records were read back %d times", others+1, n)
		}
		for range 4 {
			b.clock.advance(2 * time.Minute)
			passes()
		}
		b.expect(1, trade.Accepted, "")
		settled := 0
		for _, act := range b.audited(1) {
			if act == "evidence by safrasync" {
				settled++
			}
		}
		if settled != 1 {
			t.Errorf("the doubt was settled %d times", settled)
		}
	})
}
