package sync_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// rivals has one row in doubt, whose record no event has told of, and a record that somebody typed by hand at that time, equal in everything. intercept sees each reading of one of them.
func rivals(t *testing.T, db database, intercept func(b *bench, id string) *sandbox.Fault) (b *bench, own, typed string) {
	t.Helper()
	b = hearBench(t, db, sandbox.Options{Events: eventFaults(t, "lost"), Intercept: func(r *http.Request, _ int) *sandbox.Fault {
		if _, id, reading := strings.Cut(r.URL.Path, "/order-commitments/"); reading {
			return intercept(b, id)
		}
		return nil
	}})
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

// F143: a record of which an event told while another one was read back counts too.
func TestF143AnEventThatComesDuringAReadingCounts(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		var own, typed atomic.Value
		own.Store("")
		typed.Store("")
		b, o, h := rivals(t, db, func(b *bench, id string) *sandbox.Fault {
			if id == typed.Load() {
				b.made(own.Load().(string))
			}
			return nil
		})
		own.Store(o)
		typed.Store(h)
		b.made(h)
		b.hear()
		b.expect(3, trade.InDoubt, trade.CauseUnknown)
		if like, _ := b.suggestions(3); len(like) != 2 {
			t.Errorf("%d suggestions, want both records", len(like))
		}
	})
}

// F148: events that name ids of other things, faster than they can be looked at, keep no doubt waiting for ever.
func TestF148AFloodOfOtherIDsKeepsNoDoubtWaiting(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := hearBench(t, db, sandbox.Options{})
		b.api.SetFaults(faults(t, "lost-after@1-")...)
		b.contract(3)
		b.sync(engine.Options{})
		b.api.SetFaults()
		if err := b.api.WaitDeliveries(t.Context()); err != nil {
			t.Fatal(err)
		}
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
			if _, err := h.Pass(t.Context()); err != nil {
				t.Fatal(err)
			}
			if b.entry(3).State == trade.Accepted {
				return
			}
			if passes == 30 {
				t.Fatal("a doubt waits for as long as events name other ids")
			}
		}
	})
}
