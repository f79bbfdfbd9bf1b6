package sync_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// F153: nothing goes under a record that was deleted on the platform, in whatever state the row
// was, and whatever the ERP and people do afterwards; each such row waits and says why. What is in
// doubt stays so: it may have gone before the deletion.
func TestF153NoRowUnderADeletedRecordGoes(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.hears()
		b.contracts(1)
		b.delivery(1, 1, 100) // goes
		b.share("R1", 1, 1)
		b.pass()
		step := func(fault []string, tickets ...int) {
			t.Helper()
			b.api.SetFaults(faults(t, fault...)...)
			for _, n := range tickets {
				b.delivery(n, 1, 100+n)
			}
			b.pass()
		}
		order := func(plan func(*acts.Acts) (acts.RowPlan, error)) acts.Refusal {
			t.Helper()
			return b.do(plan).Refused
		}
		const job = "deliveries"
		step([]string{"deliveries:status=422@1-"}, 2, 3) // refused
		if refused := order(func(a *acts.Acts) (acts.RowPlan, error) {
			return a.Dismiss(t.Context(), job, []string{"01|0003"})
		}); refused != acts.NotRefused {
			t.Fatalf("not dismissed: %s", refused)
		}
		step([]string{"deliveries:lost-after@1-"}, 4) // in doubt, and there
		step([]string{"deliveries:status=422@1-"})    // nothing is left to go
		b.delivery(5, 1, -5)                          // invalid
		b.share("R2", 1, 2)
		step([]string{"deliveries:throttle=20m@1-", "traceability:throttle=20m@1-"}, 6) // pending
		b.api.SetFaults()
		b.row(job, "01|0002", trade.Rejected, "message.sandbox.fault")
		b.row(job, "01|0003", trade.Dismissed, "message.sandbox.fault")
		b.row(job, "01|0004", trade.InDoubt, "unknown")
		b.row(job, "01|0005", trade.Invalid, "rule:delivered_volume")
		b.row(job, "01|0006", trade.Pending, "")
		b.row("traceability", "R2", trade.Pending, "")
		made := len(b.api.CreatedOf(sandbox.ResourceDeliveries))
		shares := len(b.api.CreatedOf(sandbox.ResourceTraceability))
		if made != 2 || shares != 1 {
			t.Fatalf("%d deliveries and %d traceability records were made before, want 2 and 1", made, shares)
		}

		must.Do(t, b.api.DeleteCommitment(b.entry(1).RemoteID))
		must.Do(t, b.api.WaitDeliveries(t.Context()))
		h := b.hearing()
		for range 2 {
			b.clock.advance(4 * time.Second)
			must.Get(h.Pass(t.Context()))(t)
		}
		b.flags(1, "[deleted_remote]")
		stand := func(when string) {
			t.Helper()
			for range 3 {
				b.clock.advance(2 * time.Hour)
				b.pass()
			}
			for _, key := range []string{"01|0002", "01|0003", "01|0005", "01|0006", "01|0007"} {
				if key == "01|0003" && when == "after the event" {
					continue // nobody has taken it up again
				}
				e := b.row(job, key, trade.Waiting, "parent")
				if len(e.WaitingFor) != 1 || e.WaitingFor[0].ParentCause != trade.CauseDeleted {
					t.Errorf("%s: delivery %s waits for %+v", when, key, e.WaitingFor)
				}
			}
			b.row(job, "01|0004", trade.InDoubt, "unknown")
			b.row("traceability", "R2", trade.Waiting, "parent")
			b.records(sandbox.ResourceDeliveries, made)
			b.records(sandbox.ResourceTraceability, shares)
		}
		b.exec(`UPDATE entrega SET volume = 50 WHERE ticket = '0005'`) // put right in the ERP
		b.delivery(7, 1, 107)
		stand("after the event")
		b.exec(`UPDATE entrega SET volume = volume + 1 WHERE ticket > '0001' AND ticket <> '0004'`)
		for _, plan := range []func(*acts.Acts) (acts.RowPlan, error){
			func(a *acts.Acts) (acts.RowPlan, error) { return a.Reopen(t.Context(), job, []string{"01|0003"}) },
			func(a *acts.Acts) (acts.RowPlan, error) { return a.Retry(t.Context(), job, []string{"01|0002"}, true) },
		} {
			order(plan)
		}
		if refused := order(func(a *acts.Acts) (acts.RowPlan, error) {
			return a.Resend(t.Context(), job, "01|0004", true)
		}); refused == acts.NotRefused {
			t.Error("a row in doubt may be sent a second time under a record that is not there")
		}
		stand("after what people ordered")
		for _, refused := range b.acknowledge(1) {
			if refused != acts.NotRefused {
				t.Errorf("the deletion could not be acknowledged: %s", refused)
			}
		}
		stand("after the deletion was acknowledged")
	})
}

// F153: what the audit keeps of a deletion names the event that told of it, also where the record
// was first heard of by the event of its creation.
func TestF153TheAuditNamesTheEventOfTheDeletion(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		b := withChildren(hearBench(t, db, sandbox.Options{}))
		b.api.SetFaults(faults(t, "order_commitments:lost-after@1", "deliveries:status=422@1-")...)
		b.contracts(1)
		b.pass()
		b.hear()
		b.expect(1, trade.Accepted, "")
		b.delivery(1, 1, 100)
		b.pass()
		b.row("deliveries", "01|0001", trade.Rejected, "message.sandbox.fault")
		must.Do(t, b.api.DeleteCommitment(b.entry(1).RemoteID))
		b.hear()
		b.flags(1, "[deleted_remote]")
		events, err := b.ledger.Inbox(t.Context(), trade.InboxFilter{Event: "DELETE_ORDER_COMMITMENT"})
		if err != nil || len(events) != 1 {
			t.Fatalf("%d events of a deletion, %v", len(events), err)
		}
		records := must.Get(b.ledger.Audit(t.Context(), 0))(t)
		told := map[string]bool{}
		for _, r := range records {
			if r.Act != "deleted on the platform" && r.Act != "kept back" {
				continue
			}
			told[r.Act] = true
			if !strings.HasPrefix(r.Because(trade.English, time.UTC), "event DELETE_ORDER_COMMITMENT named record "+b.entry(1).RemoteID) {
				t.Errorf("%s: %s", r.Act, r.Reason)
			}
			var detail struct{ Event int64 }
			if err := json.Unmarshal([]byte(r.Detail), &detail); err != nil || detail.Event != events[0].Seq {
				t.Errorf("%s: event %d of the inbox, want %d; %v", r.Act, detail.Event, events[0].Seq, err)
			}
		}
		if len(told) != 2 {
			t.Errorf("the audit has only %v", told)
		}
	})
}
