package sync_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// rivals has one row in doubt, whose record no event has told of, and a record that somebody typed
// by hand at that time, equal in everything. intercept sees each reading of one of them.
func rivals(t *testing.T, db database, intercept func(b *bench,
	id string) *sandbox.Fault,
) (b *bench, own, typed string) {
	t.Helper()
	b = hearBench(t, db, sandbox.Options{
		Events: eventFaults(t, "lost"),
		Intercept: func(r *http.Request, _ int) *sandbox.Fault {
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
	both(t, func(t *testing.T, db database) {
		b, own, typed := rivals(t, db, func(*bench, string) *sandbox.Fault { return nil })
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
	both(t, func(t *testing.T, db database) {
		for _, answer := range []sandbox.Fault{
			{Status: http.StatusOK, Body: "{}"},
			{Status: http.StatusForbidden},
			{Status: http.StatusInternalServerError},
			{Status: http.StatusNotFound},
		} {
			t.Run(fmt.Sprint(answer.Status), func(t *testing.T) {
				var other atomic.Value
				other.Store(strange())
				b, own, _ := rivals(t, db, func(_ *bench, id string) *sandbox.Fault {
					if id == other.Load() {
						return &sandbox.Fault{Do: sandbox.Reply, Status: answer.Status, Body: answer.Body}
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
