package sync_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// lostEvents are events of which none comes.
var lostEvents = []sandbox.EventFault{{Lost: true}}

// F141: an event that comes before the answer to its request changes nothing; the answer does.
func TestF141AnEventBeforeTheAnswerIsNoSecondRecord(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		b := hearBench(t, db, sandbox.Options{Events: []sandbox.EventFault{{First: true}}})
		b.contracts(2)
		b.sync(engine.Options{})
		b.hear()
		e := b.expect(1, trade.Accepted, "")
		if got := b.audited(1); len(got) != 0 || b.gets() != 0 {
			t.Errorf("acts %v and %d readings for a row that was answered; want none", got, b.gets())
		}
		hints, err := b.ledger.Hints(t.Context(), map[string][]string{"order_commitments": {e.RemoteID}},
			noTimeAtAll, 10)
		if err != nil || len(hints.Heard) != 1 || hints.Heard[0].Event != "CREATE_ORDER_COMMITMENT" {
			t.Errorf("heard %+v, %v; want the event at its row although it came before the answer", hints.Heard, err)
		}
	})
}

var noTimeAtAll time.Time

// F142: the event of a row in doubt names a record; read back, it is what was sent: the row is
// settled without a person, with its evidence, and never sent again.
func TestF142AnEventSettlesADoubtWhenTheRecordIsTheOnlyOne(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		for _, shape := range []string{"", "nested", "list", "text", "id"} {
			t.Run(shape, func(t *testing.T) {
				b := hearBench(t, db, sandbox.Options{Events: []sandbox.EventFault{{Shape: shape}}})
				b.api.SetFaults(faults(t, "lost-after@1-")...)
				b.contract(3)
				b.sync(engine.Options{})
				b.expect(3, trade.InDoubt, trade.CauseUnknown)
				b.api.SetFaults()
				b.hear()
				e := b.expect(3, trade.Accepted, "")
				if made := b.api.Created(); e.RemoteID != made[0].ID || e.Error != nil || e.Generation != 1 {
					t.Errorf("accepted as %q (%+v), want %q", e.RemoteID, e, made[0].ID)
				}
				if got := b.audited(3); !slices.Equal(got, []string{"evidence by safrasync"}) {
					t.Errorf("audit: %v", got)
				}
				b.sync(engine.Options{Sweep: true})
				b.hear()
				b.records("order_commitments", 1)
			})
		}
	})
}

// F143: two doubts of equal content and two records: nobody can tell which is whose, so nothing is
// settled, and both are shown.
func TestF143EqualTwinsAreNotAssigned(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		b := hearBench(t, db, sandbox.Options{})
		b.api.SetFaults(faults(t, "lost-after@1-")...)
		b.contracts(2)
		b.exec(`UPDATE contrato SET quantidade = 7, data_contrato = '2026-03-10'`)
		b.run(engine.Options{})
		b.api.SetFaults()
		for _, once := range []bool{true, false} {
			must.Do(t, b.api.WaitDeliveries(t.Context()))
			h := b.hearing()
			for range 3 {
				b.clock.advance(4 * time.Second)
				must.Get(h.Pass(t.Context()))(t)
			}
			for num := 1; num <= 2; num++ {
				b.expect(num, trade.InDoubt, trade.CauseUnknown)
				like, _ := b.suggestions(num)
				if len(like) != len(b.api.Created()) || !like[0].Full {
					t.Errorf("row %d: %d suggestions, want %d", num, len(like), len(b.api.Created()))
				}
			}
			if once { // the second twin's event may come late; the first one's record alone proves nothing either
				b.run(engine.Options{})
			}
		}
	})
}

// F144: a record that differs in one field, lacks one, or has one that was not sent is a
// suggestion; other shapes of the same are the same.
func TestF144ACandidateThatIsNotWholeIsASuggestion(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		full := `"amount":3.000,"producer_id":"` + producerID + `","issuer_id":"` + issuerID + `","product":"SOJA","delivery_place_id":"` + placeID + `","haverst":"2025/2026",
			"order_type":"COMPRA","wallet_id":"` + walletID + `","currency":"BRL","price":120.50,"initial_delivery_date":"2026-05-01","end_delivery_date":"2026-06-01",
			"modality":"BALCAO","payday":"2026-07-01"`
		for name, v := range map[string]struct {
			rest          string
			settled       bool
			differ, blind int
		}{
			"other shapes": {`"unit_of_measurement":{"code":"SC","name":"saca"},"order_date":"2026-03-12T00:00:00Z","payment_type":"DINHEIRO"`, true, 0, 0},
			"another date": {
				`"unit_of_measurement":"SC","order_date":"2026-03-11","payment_type":"DINHEIRO"`,
				false, 1, 0,
			},
			"a field missing": {`"unit_of_measurement":"SC","order_date":"2026-03-12"`, false, 0, 1},
			"an unread field": {
				`"unit_of_measurement":"SC","order_date":"2026-03-12","payment_type":["DINHEIRO"]`,
				false, 0, 1,
			},
		} {
			t.Run(name, func(t *testing.T) {
				b := hearBench(t, db, sandbox.Options{})
				b.api.SetFaults(append(faults(t, "lost-after@1-"), sandbox.Disturbance{
					Gets: true, Resource: sandbox.ResourceOrderCommitments, Do: sandbox.Reply, Status: http.StatusOK,
					Header: http.Header{"Content-Type": {"application/json"}}, Body: "{" + full + "," + v.rest + "}",
				})...)
				b.contract(3)
				b.sync(engine.Options{})
				b.hear()
				if v.settled {
					b.expect(3, trade.Accepted, "")
					return
				}
				b.expect(3, trade.InDoubt, trade.CauseUnknown)
				like, _ := b.suggestions(3)
				if len(like) != 1 || like[0].Full || like[0].Reading.Differ != v.differ ||
					len(like[0].Reading.Unseen) != v.blind {
					t.Errorf("%d suggestions, want one with %d differences and %d fields that are not shown", len(like),
						v.differ, v.blind)
				}
			})
		}
	})
}

// F145: what cannot be read is tried for an hour, then shown; it never says that nothing was
// created, and settles when it can be read.
func TestF145WhatCannotBeReadIsTriedForAnHourAndProvesNothing(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		for _, fault := range []string{
			"get:order_commitments:status=404", "get:order_commitments:status=403",
			"get:order_commitments:status=500", "get:order_commitments:lost-before",
		} {
			t.Run(fault, func(t *testing.T) {
				b := hearBench(t, db, sandbox.Options{})
				b.api.SetFaults(faults(t, "lost-after@1-", fault)...)
				b.contract(3)
				b.sync(engine.Options{})
				b.hear()
				first := b.gets()
				for range 15 {
					b.clock.advance(10 * time.Minute)
					b.hear()
				}
				tries := b.gets()
				if first == 0 || tries < 6 || tries > 60 {
					t.Errorf("%d readings at first and %d in all", first, tries)
				}
				b.hear()
				if b.gets() != tries {
					t.Errorf("%d readings after the hour", b.gets()-tries)
				}
				b.expect(3, trade.InDoubt, trade.CauseUnknown)
				if like, unreadable := b.suggestions(3); len(like) != 0 || len(unreadable) != 1 {
					t.Errorf("%d suggestions and %d that could not be read, want 0 and 1", len(like), len(unreadable))
				}
				b.done(b.resend(3), acts.NotRefused) // a person decides, after the quarantine, as without any event
			})
		}
	})
}

// F145: a record that is there a little later settles the doubt then.
func TestF145ARecordThatIsThereLaterSettlesThen(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		b := hearBench(t, db, sandbox.Options{ShowTimes: true})
		b.api.SetFaults(faults(t, "lost-after@1-", "get:order_commitments:status=404")...)
		b.contract(3)
		b.sync(engine.Options{})
		b.hear()
		b.expect(3, trade.InDoubt, trade.CauseUnknown)
		b.api.SetFaults()
		b.clock.advance(2 * time.Minute)
		b.hear()
		b.expect(3, trade.Accepted, "")
	})
}

// F145: what could not be read for an hour is read when a person lets its event be looked at once
// more.
func TestF145AnEventThatIsReplayedHasItsRecordReadAgain(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		b := hearBench(t, db, sandbox.Options{ShowTimes: true})
		b.api.SetFaults(faults(t, "lost-after@1-", "get:order_commitments:status=500")...)
		b.contract(3)
		b.sync(engine.Options{})
		b.hear()
		for range 15 {
			b.clock.advance(10 * time.Minute)
			b.hear()
		}
		b.api.SetFaults()
		b.hear()
		b.expect(3, trade.InDoubt, trade.CauseUnknown)
		events, err := b.ledger.Inbox(t.Context(), trade.InboxFilter{})
		if err != nil || len(events) != 1 {
			t.Fatalf("%d events, %v", len(events), err)
		}
		record := trade.AuditRecord{At: b.clock.Now(), Who: "Ana", Act: "webhooks replay", Target: "inbox"}
		if n, err := b.ledger.ReplayEvents(t.Context(), []int64{events[0].Seq}, b.clock.Now(), record); n != 1 ||
			err != nil {
			t.Fatalf("%d events are looked at again, %v", n, err)
		}
		b.hear()
		b.expect(3, trade.Accepted, "")
	})
}

// F146: a record that somebody typed, equal to ours, settles nothing: it was there before, or
// nobody can tell.
func TestF146ARecordTypedByHandSettlesNothing(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		for name, v := range map[string]struct {
			typed time.Duration // before or after the request
			shown int           // suggestions
		}{"before": {-time.Hour, 0}, "long after": {time.Hour, 1}} {
			t.Run(name, func(t *testing.T) {
				b := hearBench(t, db, sandbox.Options{ShowTimes: true})
				b.api.SetFaults(faults(t, "lost-before@1-")...) // ours was never made
				b.contract(3)
				b.sync(engine.Options{})
				b.api.SetFaults()
				must.Get(b.api.TypeCommitment(commitment(3), b.clock.Now().Add(v.typed)))(t)
				b.hear()
				b.expect(3, trade.InDoubt, trade.CauseUnknown)
				if like, _ := b.suggestions(3); len(like) != v.shown {
					t.Errorf("%d suggestions, want %d", len(like), v.shown)
				}
				if got := b.audited(3); len(got) != 0 {
					t.Errorf("acts %v", got)
				}
			})
		}
		t.Run("a change of an old record, without a time", func(t *testing.T) {
			b := timelessBench(t, db, sandbox.Options{})
			id := must.Get(b.api.TypeCommitment(commitment(4), b.clock.Now()))(t)
			b.hear()
			b.clock.advance(time.Hour)
			b.api.SetFaults(faults(t, "lost-before@1-")...)
			b.contract(3)
			b.sync(engine.Options{})
			b.api.SetFaults()
			must.Do(t, b.api.ChangeCommitment(id, map[string]any{"amount": 3}))
			b.hear()
			b.expect(3, trade.InDoubt, trade.CauseUnknown)
		})
	})
}

// The event of an older record comes late, for the first time after the request of an equal
// row that was lost. Where the platform tells no time, nobody can tell: the record stands at the
// doubt, and a person decides. Where it tells one, the record is older and is not even shown; where
// it was heard of before, neither.
func TestALateEventOfAnOlderEqualRecordSettlesNothing(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		for name, v := range map[string]struct {
			bench func(*testing.T, database, sandbox.Options) *bench
			early bool // an event told of it before, too
			shown int
		}{
			"without a time": {timelessBench, false, 1}, "without a time, heard of before": {timelessBench, true, 0},
			"with its time": {hearBench, false, 0},
		} {
			t.Run(name, func(t *testing.T) {
				b := v.bench(t, db, sandbox.Options{Events: lostEvents})
				older := must.Get(b.api.TypeCommitment(commitment(3), time.Now()))(t)
				if v.early {
					b.made(older)
					b.hear()
				}
				b.clock.advance(time.Hour)
				b.api.SetFaults(faults(t, "lost-before@1-")...) // ours was never made
				b.contract(3)
				b.sync(engine.Options{})
				b.api.SetFaults()
				b.made(older)
				for range 3 {
					b.hear()
					b.clock.advance(time.Hour)
				}
				b.expect(3, trade.InDoubt, trade.CauseUnknown)
				if like, _ := b.suggestions(3); len(like) != v.shown {
					t.Errorf("%d suggestions, want %d", len(like), v.shown)
				}
			})
		}
	})
}

// F147: a forged event can only cause a reading: whatever it names, nothing is settled by it,
// and addresses in it are not called.
func TestF147AForgedEventCanOnlyCauseAReading(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		b := hearBench(t, db, sandbox.Options{})
		b.api.SetFaults(faults(t, "lost-before@1-")...)
		b.contract(3)
		b.sync(engine.Options{})
		b.api.SetFaults()
		before := b.api.Requests()
		b.tell("CREATE_ORDER_COMMITMENT", `{"id":"`+strange()+`","url":"http://127.0.0.1:1/`+strange()+
			`","callback":"https://attacker.example/x"}`)
		b.tell("DELETE_ORDER_COMMITMENT", `{"id":"`+strange()+`"}`)
		b.tell("CREATE_ORDER_COMMITMENT", `not json `+strange())
		b.hear()
		b.expect(3, trade.InDoubt, trade.CauseUnknown)
		if n := b.api.Requests() - before; n == 0 || n != b.gets() {
			t.Errorf("%d requests, of which %d readings of order commitments", n, b.gets())
		}
	})
}

// F148: the same event a hundred times, out of order, and those of others.
func TestF148AnEventThatComesOftenIsStoredOnce(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		b := hearBench(t, db, sandbox.Options{Events: []sandbox.EventFault{{Again: 99, Swapped: true}}})
		b.api.SetFaults(faults(t, "order_commitments:lost-after@2")...)
		b.contracts(3)
		b.sync(engine.Options{})
		b.hear()
		for num := 1; num <= 3; num++ {
			b.expect(num, trade.Accepted, "")
		}
		events, err := b.ledger.Inbox(t.Context(), trade.InboxFilter{})
		if err != nil || len(events) != 3 || events[0].Times != 100 {
			t.Errorf("%d events, %v; want 3, each 100 times", len(events), err)
		}
		if b.gets() > 2 {
			t.Errorf("%d readings for one doubt", b.gets())
		}
		b.tell("UPDATE_WALLET", `{"id":"`+strange()+`"}`)
		b.tell("UPDATE_ORDER_COMMITMENT", `[]`)
		b.tell("PRODUCER_PRODUCTION", ``)
		b.hear()
		events, err = b.ledger.Inbox(t.Context(), trade.InboxFilter{Open: true})
		if err != nil || len(events) != 0 {
			t.Errorf("%d events are still to be looked at, %v", len(events), err)
		}
	})
}

// I3, F168: evidence against what a person decided is told, and a second sending that was ordered
// does not leave.
func TestEvidenceAgainstADecision(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		b := hearBench(t, db, sandbox.Options{Events: lostEvents}) // they are told below, at their time
		b.api.SetFaults(faults(t, "order_commitments:lost-after@1-3")...)
		b.contracts(3)
		b.limits.StopAfterUnknown = 0
		b.sync(engine.Options{})
		b.clock.advance(time.Hour)
		b.done(b.dismiss(1), acts.NotRefused)
		b.done(b.resend(2), acts.NotRefused)
		b.clock.advance(-time.Hour)
		for _, made := range b.api.Created() {
			b.tell("CREATE_ORDER_COMMITMENT", `{"id":"`+made.ID+`"}`)
		}
		b.hear()
		b.clock.advance(time.Hour)
		b.flagsOf(b.expect(1, trade.Dismissed, trade.CauseUnknown), "[contradicted]")
		b.expect(2, trade.Held, trade.CauseExists)
		b.expect(3, trade.Accepted, "")
		b.sync(engine.Options{})
		b.records("order_commitments", 3)
	})
}

// I3, F168: a lost request was executed late, but before the quarantine ended, and its event comes
// only when a second sending was ordered: that does not leave.
func TestALateEventOfALateRecordHoldsTheSecondSending(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		b := hearBench(t, db, sandbox.Options{Events: lostEvents, ShowTimes: true})
		b.api.SetFaults(faults(t, "lost-before@1-")...) // it is made below, at its time
		b.contract(3)
		b.sync(engine.Options{})
		b.api.SetFaults()
		made := must.Get(b.api.TypeCommitment(commitment(3), b.clock.Now().Add(b.limits.LeastQuarantine()/2)))(t)
		b.clock.advance(time.Hour)
		b.done(b.resend(3), acts.NotRefused)
		b.made(made)
		b.wants(b.sync(engine.Options{}), "sent 0") // nobody has looked at the event yet
		b.expect(3, trade.Pending, "")
		b.hear()
		b.expect(3, trade.Held, trade.CauseExists)
		b.sync(engine.Options{})
		b.records("order_commitments", 0)
	})
}

// A second sending does not wait for ever for records that nobody reads back.
func TestASecondSendingWaitsAnHourForARecordAtMost(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		b := hearBench(t, db, sandbox.Options{Events: lostEvents, ShowTimes: true})
		b.api.SetFaults(faults(t, "lost-before@1-")...)
		b.contract(3)
		b.sync(engine.Options{})
		b.api.SetFaults()
		b.clock.advance(time.Hour)
		b.done(b.resend(3), acts.NotRefused)
		b.made(walletID) // any id
		for _, want := range []int{0, 1} {
			if r := b.sync(engine.Options{}); r.Sent != want {
				t.Errorf("%d were sent, want %d", r.Sent, want)
			}
			b.clock.advance(2 * time.Hour)
		}
		b.expect(3, trade.Accepted, "")
	})
}

// F153: a record that was deleted on the platform, which a reading confirms: its row is flagged,
// what hangs on it is kept back, nothing is created again.
func TestF153ADeletedRecordKeepsItsChildrenBack(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.hears()
		b.contracts(2)
		b.delivery(1, 1, 100)
		b.pass()
		id := b.entry(1).RemoteID
		b.tell("DELETE_ORDER_COMMITMENT", `{"id":"`+b.entry(2).RemoteID+`"}`) // a lie
		b.api.SetFaults(faults(t, "deliveries:status=422@1-")...)
		b.delivery(2, 1, 200)
		b.pass()
		b.api.SetFaults()
		must.Do(t, b.api.DeleteCommitment(id))
		b.hear()
		if e := b.expect(1, trade.Accepted, ""); !e.Flags.Has(trade.DeletedRemote) || e.RemoteID != id {
			t.Errorf("flags %v, id %q", e.Flags, e.RemoteID)
		}
		b.flags(2, "[]")
		b.delivery(3, 1, 300)
		b.pass()
		b.pass()
		for _, ticket := range []string{"01|0002", "01|0003"} {
			e, err := b.ledger.Entry(t.Context(), "deliveries", ticket)
			if err != nil || e.State != trade.Waiting || e.Cause != trade.CauseParent {
				t.Errorf("delivery %s is %s (%s), %v; want waiting (parent)", ticket, e.State, e.Cause, err)
			}
		}
		b.records(sandbox.ResourceOrderCommitments, 2)
		b.records(sandbox.ResourceDeliveries, 1)
	})
}

// F154: changes and the workflow are noted at the row, also when they come before the answer;
// producers' and farms' changes at the rows that name them.
func TestF154WhatChangesOnThePlatformIsNoted(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		b := hearBench(t, db, sandbox.Options{})
		b.contracts(1)
		b.sync(engine.Options{})
		e := b.entry(1)
		must.Do(t, b.api.ChangeCommitment(e.RemoteID, map[string]any{"haverst": "2026/2027"}))
		b.tell("UPDATE_WORKFLOW_ORDER_COMMITMENT", `{"data":{"order_commitment_id":"`+e.RemoteID+
			`","newStatus":"APPROVED","status":"PENDING"}}`)
		b.tell("CHANGE_PRODUCER_STATUS_ESG", `{"producer":"`+producerID+`","status_esg":"BLOCKED"}`)
		b.hear()
		b.expect(1, trade.Accepted, "")
		hints, err := b.ledger.Hints(t.Context(),
			map[string][]string{"order_commitments": {e.RemoteID}, "producers": {producerID}}, noTimeAtAll, 10)
		got := map[string]string{}
		for _, h := range hints.Heard {
			got[h.Event] = h.Word
		}
		want := map[string]string{
			"CREATE_ORDER_COMMITMENT": "", "UPDATE_ORDER_COMMITMENT": "",
			"UPDATE_WORKFLOW_ORDER_COMMITMENT": "APPROVED", "CHANGE_PRODUCER_STATUS_ESG": "BLOCKED",
		}
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("heard %v, %v; want %v", got, err, want)
		}
	})
}

// F122: rows that wait for a wallet, its link, a producer or a delivery place go with the next run
// after the platform told of it, not only at their next time.
func TestF122AnEventWakesWhatWaitsForItsRecord(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		lacks := func(kind sandbox.RegistrationKind, id string) (forget, know func(*bench)) {
			return func(b *bench) { b.api.Forget(kind, id) }, func(b *bench) { b.api.Know(kind, id) }
		}
		for event, id := range map[string]string{
			"CREATE_WALLET": walletID, "UPDATE_WALLET": walletID,
			"CREATE_PRODUCER": producerID, "CREATE_DELIVERY_PLACE": placeID,
		} {
			t.Run(event, func(t *testing.T) {
				forget, know := lacks(map[string]sandbox.RegistrationKind{
					"CREATE_WALLET":   sandbox.Wallets,
					"CREATE_PRODUCER": sandbox.Producers, "CREATE_DELIVERY_PLACE": sandbox.DeliveryPlaces,
				}[event], id)
				if event == "UPDATE_WALLET" {
					forget = func(b *bench) { b.api.UnlinkWallet(walletID, producerID) }
					know = func(b *bench) { b.api.LinkWallet(walletID, producerID) }
				}
				b := hearBench(t, db, sandbox.Options{})
				forget(b)
				b.contracts(3)
				b.sync(engine.Options{})
				posts := b.api.Requests()
				b.sync(engine.Options{})
				b.tell(event, `{"id":"`+strange()+`"}`) // another one
				b.hear()
				b.sync(engine.Options{})
				if len(b.api.Created()) != 0 {
					t.Errorf("something went: %d requests", b.api.Requests()-posts)
				}
				know(b)
				b.sync(engine.Options{})
				if len(b.api.Created()) != 0 {
					t.Error("something went before its time, and before the event")
				}
				b.tell(event, `{"data":{"id":"`+id+`"}}`)
				b.hear()
				b.sync(engine.Options{})
				for num := 1; num <= 3; num++ {
					b.expect(num, trade.Accepted, "")
				}
			})
		}
	})
}

// F143: a doubt is compared with all records of which events told since its request, however many:
// those that were made before it keep it from nothing.
func TestF143ManyOtherRecordsKeepNoDoubtFromBeingSettled(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		b := hearBench(t, db, sandbox.Options{})
		b.api.SetFaults(faults(t, "lost-after@1-")...)
		b.contract(1)
		b.sync(engine.Options{})
		must.Do(t, b.api.WaitDeliveries(t.Context()))
		b.clock.advance(time.Minute)
		long := b.clock.Now().Add(-24 * time.Hour)
		others := make([]trade.Candidate, 2100)
		for i := range others {
			others[i] = trade.Candidate{
				ID: strange(), Seq: 1, Event: "UPDATE_ORDER_COMMITMENT", Purpose: trade.ForDoubts,
				HeardAt: b.clock.Now(), LastAt: b.clock.Now(), TypedFrom: long, TypedTo: long,
			}
		}
		must.Do(t, b.ledger.StoreNotes(t.Context(), nil, others))
		b.hear()
		b.expect(1, trade.Accepted, "")
	})
}

// F143, F145: a record that could not be read may be the doubt's own: another one that is like the
// doubt proves nothing until it was read.
func TestF143ARecordThatCannotBeReadYetMayBeTheOne(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		for _, status := range []int{http.StatusInternalServerError, http.StatusForbidden, http.StatusNotFound} {
			t.Run(fmt.Sprint(status), func(t *testing.T) {
				var unread atomic.Value // the id of the record that cannot be read
				unread.Store("nobody's")
				b := hearBench(t, db, sandbox.Options{Intercept: func(r *http.Request, _ int) *sandbox.Disturbance {
					if strings.HasSuffix(r.URL.Path, unread.Load().(string)) {
						return &sandbox.Disturbance{Do: sandbox.Reply, Status: status}
					}
					return nil
				}})
				b.api.SetFaults(faults(t, "lost-after@1-")...)
				b.contract(3)
				b.sync(engine.Options{})
				b.api.SetFaults()
				unread.Store(b.api.Created()[0].ID)
				// by hand, equal, at the same time
				must.Get(b.api.TypeCommitment(commitment(3), b.clock.Now()))(t)
				b.hear()
				b.expect(3, trade.InDoubt, trade.CauseUnknown)
				unread.Store("nobody's")
				b.clock.advance(2 * time.Minute)
				b.hear()
				b.expect(3, trade.InDoubt, trade.CauseUnknown) // two are like it: a person decides
				if like, _ := b.suggestions(3); len(like) != 2 || !like[0].Full || !like[1].Full {
					t.Errorf("%d suggestions, want both records", len(like))
				}
			})
		}
	})
}
