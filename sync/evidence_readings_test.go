package sync_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	gosync "sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/events"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// rivals has one row in doubt, whose record no event has told of, and a record that somebody typed
// by hand at that time, equal in everything. intercept sees each reading of one of them.
func rivals(t *testing.T, db database, intercept func(b *bench,
	id string) *sandbox.Disturbance,
) (b *bench, own, typed string) {
	t.Helper()
	b = hearBench(t, db, sandbox.Options{
		Events: lostEvents,
		Intercept: func(r *http.Request, _ int) *sandbox.Disturbance {
			if _, id, reading := strings.Cut(r.URL.Path, "/order-commitments/"); reading {
				return intercept(b, id)
			}
			return nil
		},
	})
	b.api.SetFaults(faults(t, "lost-after@1-")...)
	b.contract(3)
	b.sync(engine.Options{})
	b.api.SetFaults()
	b.expect(3, trade.InDoubt, trade.CauseUnknown)
	own = b.api.Created()[0].ID
	typed, err := b.api.TypeCommitment(commitment(3), b.clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	return b, own, typed
}

func (b *bench) made(id string) { b.tell("CREATE_ORDER_COMMITMENT", `{"id":"`+id+`"}`) }

// F147: an event that a record was deleted, true or forged, does not make another one the only one.
func TestF147AnEventOfADeletionProvesNothing(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		b, own, typed := rivals(t, db, func(*bench, string) *sandbox.Disturbance { return nil })
		b.made(typed)
		b.made(own)
		b.hear()
		b.made(own)
		b.tell("DELETE_ORDER_COMMITMENT", `{"id":"`+own+`"}`)
		b.clock.advance(time.Second)
		b.made(typed)
		b.hear()
		b.clock.advance(2 * time.Hour)
		b.hear()
		b.expect(3, trade.InDoubt, trade.CauseUnknown)
	})
}

// F148: ids of which nobody can tell what they stand for keep no doubt waiting for ever, whatever
// the platform answers.
func TestF148IDsThatNobodyCanReadKeepNoDoubtWaitingForEver(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		for _, answer := range []sandbox.Disturbance{
			{Status: http.StatusOK, Body: "{}"},
			{Status: http.StatusForbidden},
			{Status: http.StatusInternalServerError},
			{Status: http.StatusNotFound},
		} {
			t.Run(fmt.Sprint(answer.Status), func(t *testing.T) {
				var other atomic.Value
				other.Store(strange())
				b, own, _ := rivals(t, db, func(_ *bench, id string) *sandbox.Disturbance {
					if id == other.Load() {
						return &sandbox.Disturbance{Do: sandbox.Reply, Status: answer.Status, Body: answer.Body}
					}
					return nil
				})
				b.made(other.Load().(string))
				b.made(own)
				for range 15 {
					b.hear()
					b.clock.advance(5 * time.Minute)
				}
				b.expect(3, trade.Accepted, "")
			})
		}
	})
}

// F148: events that name ids of other things, faster than they can be looked at, keep no doubt
// waiting for ever.
func TestF148AFloodOfOtherIDsKeepsNoDoubtWaiting(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		b := hearBench(t, db, sandbox.Options{})
		b.api.SetFaults(faults(t, "lost-after@1-")...)
		b.contract(3)
		b.sync(engine.Options{})
		b.api.SetFaults()
		must.Do(t, b.api.WaitDeliveries(t.Context()))
		h := b.hearing()
		for passes := 0; ; passes++ {
			for range 3 {
				ids := make([]string, 10)
				for i := range ids {
					ids[i] = strange()
				}
				b.tell("CREATE_ORDER_COMMITMENT", `{"others":["`+strings.Join(ids, `","`)+`"]}`)
			}
			b.clock.advance(40 * time.Second)
			must.Get(h.Pass(t.Context()))(t)
			if b.entry(3).State == trade.Accepted {
				return
			}
			if passes == 30 {
				t.Fatal("a doubt waits for as long as events name other ids")
			}
		}
	})
}

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
		must.Do(t, b.api.WaitDeliveries(t.Context()))
		// the events are looked at, and it is too early to read: then all see the same records due
		must.Get(b.hearing().Pass(t.Context()))(t)
		b.clock.advance(4 * time.Second)
		before := b.gets()
		var instances []*events.Processor
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

// Under a mix of faults most doubts are settled without a person, none wrongly: what is settled has
// the record that was made of it, and what was never made is never settled. docs/reliability.md has
// the figures.
func TestF142TheShareOfDoubtsThatNobodyNeedDecide(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		rows, gateway := 50, "504"
		if long {
			rows, gateway = 2000, "502" // after which nobody rests
		}
		b := hearBench(t, db, sandbox.Options{
			Seed: 7,
			Events: []sandbox.EventFault{
				{Event: "CREATE_ORDER_COMMITMENT", Lost: true, Percent: 5},
				{Late: 50 * time.Millisecond, Again: 2, Percent: 30},
				{Swapped: true, Percent: 20},
				{Shape: "nested", Percent: 20},
				{Invented: true, Forged: true, Percent: 5},
			},
		})
		b.limits.StopAfterUnknown, b.limits.MaxInFlight = 0, 1
		b.observe = func(p run.Progress) {
			if p.Phase == run.Resting {
				b.clock.jump(time.Minute)
			}
		}
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
		records := must.Get(b.ledger.Audit(t.Context(), 0))(t)
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
