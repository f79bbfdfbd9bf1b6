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

// F143, F145: after the platform could not be read for a while, the first record that can be read proves nothing until the others were asked for after it.
func TestF145AfterAnOutageTheFirstRecordProvesNothing(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		for _, lasts := range []time.Duration{21 * time.Minute, time.Hour} {
			t.Run(lasts.String(), func(t *testing.T) {
				var out atomic.Bool
				out.Store(true)
				b, own, typed := rivals(t, db, func(*bench, string) *sandbox.Fault {
					if out.Load() {
						return &sandbox.Fault{Do: sandbox.Reply, Status: http.StatusInternalServerError}
					}
					return nil
				})
				h := b.hearing()
				pass := func() {
					t.Helper()
					if _, err := h.Pass(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				b.made(own)
				began := b.clock.Now()
				for told := false; b.clock.Now().Sub(began) < lasts; pass() {
					b.clock.advance(15 * time.Second)
					if !told && b.clock.Now().Sub(began) >= 3*time.Minute { // so that the two are not tried at the same times
						b.made(typed)
						told = true
					}
				}
				out.Store(false)
				for range 200 {
					b.clock.advance(15 * time.Second)
					pass()
				}
				b.expect(3, trade.InDoubt, trade.CauseUnknown)
				if like, _ := b.suggestions(3); len(like) != 2 {
					t.Errorf("%d suggestions, want both records", len(like))
				}
			})
		}
	})
}

// F147: an event that a record was deleted, true or forged, does not make another one the only one.
func TestF147AnEventOfADeletionProvesNothing(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		for _, read := range []bool{false, true} {
			t.Run(fmt.Sprint(read), func(t *testing.T) {
				b, own, typed := rivals(t, db, func(*bench, string) *sandbox.Fault { return nil })
				if read { // both; so neither settles
					b.made(typed)
					b.made(own)
					b.hear()
				}
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
	})
}

// F148: of a record that was made and deleted the deletion may be told first; that it was made counts all the same.
func TestF148ADeletionThatIsToldFirstHidesNoRival(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b, own, typed := rivals(t, db, func(*bench, string) *sandbox.Fault { return nil })
		if err := b.api.DeleteCommitment(own); err != nil {
			t.Fatal(err)
		}
		b.tell("DELETE_ORDER_COMMITMENT", `{"id":"`+own+`"}`)
		b.made(own)
		b.clock.advance(time.Second)
		b.made(typed)
		b.hear()
		b.clock.advance(2 * time.Hour)
		b.hear()
		b.expect(3, trade.InDoubt, trade.CauseUnknown)
	})
}

// F145: a page of something between us and the platform does not say that a record is not there.
func TestF145APageOfAProxyIsNoWordOfThePlatform(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		var own atomic.Value
		own.Store("")
		b, id, typed := rivals(t, db, func(_ *bench, id string) *sandbox.Fault {
			if id == own.Load() {
				return &sandbox.Fault{Do: sandbox.Reply, Status: http.StatusNotFound, Body: "<html>not found</html>"}
			}
			return nil
		})
		own.Store(id)
		b.made(id)
		b.made(typed)
		for range 5 {
			b.hear()
			b.clock.advance(time.Minute)
		}
		b.expect(3, trade.InDoubt, trade.CauseUnknown)
	})
}

// F148: ids of which nobody can tell what they stand for keep no doubt waiting for ever, whatever the platform answers.
func TestF148IDsThatNobodyCanReadKeepNoDoubtWaitingForEver(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		for _, answer := range []sandbox.Fault{{Status: http.StatusOK, Body: "{}"}, {Status: http.StatusForbidden}, {Status: http.StatusInternalServerError}, {Status: http.StatusNotFound}} {
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
