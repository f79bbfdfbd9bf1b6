package sync_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/discovery"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// F159: an id that another row has, that the platform does not know, or under which it has
// something else, is not adopted just so.
func TestF159AnIDIsReadBackAndComparedBeforeItIsAdopted(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.limits.MaxInFlight = 1
		b.api.SetFaults(faults(t, "lost-after@1", "lost-after@2")...)
		b.contracts(3)
		b.sync(engine.Options{})
		ids := map[int]string{}
		for _, r := range b.api.Created() {
			ids[int(r.Fields["amount"].(interface{ String() string }).String()[0]-'0')] = r.ID
		}
		b.done(b.adopt(1, "17"), acts.NotAnID)
		b.done(b.adopt(1, ""), acts.NotAnID)
		b.done(b.adopt(1, uuid.Nil.String()), acts.NotAnID)
		b.done(b.adopt(1, uuid.NewString()), acts.NotOnPlatform)
		taken := b.adopt(1, ids[3])
		b.done(taken, acts.IDTaken)
		if taken.Holder != (trade.ParentKey{Job: "contracts", Key: key(3)}) {
			t.Errorf("holder %+v", taken.Holder)
		}
		other := b.adopt(1, ids[2]) // another doubt's record
		b.done(other, acts.Differs)
		if r := other.Reading; r == nil || r.Differ != 2 || r.Same != 15 || len(r.Unseen) != 0 {
			t.Errorf("%+v", other.Reading)
		}
		b.done(b.adopt(1, "{"+strings.ToUpper(ids[1])+"}"), acts.NotRefused)
		e := b.expect(1, trade.Accepted, "")
		if e.RemoteID != ids[1] || e.Error != nil {
			t.Errorf("%+v", e)
		}
		b.done(b.adopt(1, ids[1]), acts.IsAccepted)
		b.done(b.adopt(2, ids[1]), acts.IDTaken)
		// A reading that shows nothing says nothing; a person may know better.
		b.api.SetFaults(faults(t, "get:status=200,type=application/json@1-,body={}")...)
		empty := b.adopt(2, ids[2])
		b.done(empty, acts.Differs)
		if len(empty.Reading.Unseen) != 17 {
			t.Errorf("%+v", empty.Reading)
		}
		b.done(b.adoptRow("contracts", key(2), acts.Adoption{ID: ids[2], DespiteDifferences: true}), acts.NotRefused)
		b.wants(b.sync(engine.Options{Sweep: true}), "accepted 3, sent 0")
		b.api.SetFaults()
		noID := b.adoptRow("contracts", key(2), acts.Adoption{NoID: true})
		b.done(noID, acts.IsAccepted)
		audit, err := b.ledger.Audit(t.Context(), 0)
		if err != nil || len(audit) != 2 || !strings.Contains(audit[0].Detail, `"unseen":["amount"`) ||
			!strings.Contains(audit[1].Detail, `"remote_id":"`+ids[1]) {
			t.Errorf("audit %+v, %v", audit, err)
		}
	})
}

func TestThePlatformsTroubleAdoptsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{Faults: faults(t, "lost-after@1", "get:status=500@1-")})
	b.contracts(1)
	b.api.SetFaults(faults(t, "lost-after@1", "get:order_commitments:status=500@1-")...)
	b.sync(engine.Options{})
	if _, err := b.acts().Adopt(t.Context(), "contracts", key(1),
		acts.Adoption{ID: b.api.Created()[0].ID}); err == nil {
		t.Error("an id that could not be read back was adopted")
	}
	b.api.SetFaults()
	noID := b.adoptRow("contracts", key(1), acts.Adoption{NoID: true})
	b.done(noID, acts.NeedsID)
}

// Deliveries and traceability cannot be read back: a person has seen them on the platform.
func TestADeliveryIsAdoptedWithOrWithoutAnID(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.limits.MaxInFlight = 1
		b.contract(1)
		b.delivery(1, 1, 100)
		b.delivery(2, 1, 200)
		b.share("A", 1, 300)
		b.api.SetFaults(faults(t, "deliveries:lost-after@1-2", "traceability:lost-after@1")...)
		b.pass()
		adopt := func(job, key string, adoption acts.Adoption, want acts.Refusal) {
			t.Helper()
			b.done(b.adoptRow(job, key, adoption), want)
		}
		adopt("deliveries", "01|0001", acts.Adoption{ID: "a\x00b"}, acts.NotAnID)
		adopt("deliveries", "01|0001", acts.Adoption{ID: "4711"}, acts.NotRefused)
		adopt("deliveries", "01|0002", acts.Adoption{ID: "4711"}, acts.IDTaken)
		adopt("deliveries", "01|0002", acts.Adoption{NoID: true}, acts.NotRefused)
		adopt("traceability", "A", acts.Adoption{ID: "4711"}, acts.NotAnID)
		adopt("traceability", "A", acts.Adoption{NoID: true}, acts.NotRefused)
		if e := b.row("deliveries", "01|0002", trade.Accepted, ""); e.RemoteID != "" || e.RecordedBy == 0 {
			t.Errorf("%+v", e)
		}
		if e := b.row("deliveries", "01|0001", trade.Accepted, ""); e.RemoteID != "4711" || e.RecordedBy == 0 {
			t.Errorf("%+v", e)
		}
		for job, r := range b.pass() {
			if r.Sent != 0 || r.States[trade.Accepted] != map[string]int{
				"contracts": 1, "deliveries": 2,
				"traceability": 1,
			}[job] {
				t.Errorf("%s: sent %d, states %v", job, r.Sent, r.States)
			}
		}
	})
}

// An id has one form, and is that of one record: in capitals or braces it is the same, and the id of a
// row of another kind, such as the contract of a delivery, is another record's.
func TestNoRowIsGivenTheIDOfAnotherRecord(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.limits.MaxInFlight = 1
		b.contracts(2)
		b.delivery(1, 1, 100)
		b.delivery(2, 1, 200)
		b.share("A", 1, 300)
		b.api.SetFaults(faults(t, "deliveries:lost-after@1")...)
		b.pass()
		ticket := b.row("deliveries", "01|0002", trade.Accepted, "").RemoteID
		contract, other := b.expect(1, trade.Accepted, "").RemoteID, b.expect(2, trade.Accepted, "").RemoteID
		share := b.row("traceability", "A", trade.Accepted, "").RemoteID
		for _, id := range []string{ticket, contract, other, share} {
			for _, form := range []string{id, strings.ToUpper(id), "{" + strings.ToUpper(id) + "}", " " + id} {
				step := b.adoptRow("deliveries", "01|0001", acts.Adoption{ID: form})
				if b.done(step, acts.IDTaken); step.Holder == (trade.ParentKey{}) {
					t.Errorf("%s: nothing says whose id it is", form)
				}
			}
		}
		entry := b.row("deliveries", "01|0001", trade.InDoubt, trade.CauseUnknown)
		for _, named := range mapping.SentTexts(entry) { // its producer, its wallet
			if id, err := trade.ParseID(*named); err == nil {
				b.done(b.adoptRow("deliveries", "01|0001", acts.Adoption{ID: id}), acts.IDTaken)
			}
		}
		own := b.api.CreatedOf("deliveries")[0].ID
		b.done(b.adoptRow("deliveries", "01|0001", acts.Adoption{ID: strings.ToUpper(own)}), acts.NotRefused)
		if e := b.row("deliveries", "01|0001", trade.Accepted, ""); e.RemoteID != own {
			t.Errorf("the row has the id %s, want %s", e.RemoteID, own)
		}
	})
}

// What somebody typed on the platform before the first sending is told before anything goes: rows are
// recorded without sending, also of a paused job, and those that are there already are adopted.
func TestI3WhatStandsOnThePlatformAlreadyIsToldBeforeTheFirstSending(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.contracts(5)
		b.exec(`UPDATE contrato SET quantidade = 0 WHERE num = '0002'`)
		b.exec(`UPDATE contrato SET carteira = '99' WHERE num = '0003'`)
		b.delivery(1, 1, 100)
		b.delivery(2, 1, 200)
		b.delivery(3, 4, 300)
		people := b.acts()
		b.orderJob(people.Pause(t.Context(), "contracts", maria))
		for range 2 {
			reports := must.Get(b.engine().Sync(t.Context(), nil, engine.Options{RecordOnly: true}))(t)
			for _, r := range reports {
				if b.adds(r); r.Sent != 0 || r.Stopped != nil || len(r.Notes) == 0 {
					t.Errorf("%s: sent %d, stopped %+v, notes %v", r.Job, r.Sent, r.Stopped, r.Notes)
				}
			}
		}
		b.stands("contracts", trade.Paused, "paused")
		if n := len(b.api.CreatedOf()); n != 0 {
			t.Fatalf("%d records were sent", n)
		}
		pending := b.expect(1, trade.Pending, "")
		typed := must.Get(b.api.TypeCommitment(pending.Payload, b.clock.Now()))(t)
		b.done(b.adopt(1, uuid.NewString()), acts.NotOnPlatform)
		b.done(b.adopt(4, typed), acts.Differs)
		adopted := b.adopt(1, typed)
		if b.done(adopted, acts.NotRefused); adopted.Reading.Differ != 0 || adopted.Reading.Same == 0 {
			t.Errorf("%+v", adopted.Reading)
		}
		b.done(b.adopt(1, typed), acts.IsAccepted)
		b.done(b.adopt(4, typed), acts.IDTaken)
		cause := map[trade.State]string{trade.Invalid: "rule:amount", trade.Waiting: "ref:wallets"}
		for num, state := range map[int]trade.State{2: trade.Invalid, 3: trade.Waiting} {
			b.expect(num, state, cause[state])
			other := must.Get(b.api.TypeCommitment(pending.Payload, b.clock.Now()))(t)
			b.done(b.adopt(num, other), acts.Differs) // there is nothing to compare it with
			despite := acts.Adoption{ID: other, DespiteDifferences: true}
			b.done(b.adoptRow("contracts", key(num), despite), acts.NotRefused)
		}
		for ticket, id := range map[string]string{"01|0001": "4711", "01|0002": ""} {
			b.done(b.adoptRow("deliveries", ticket, acts.Adoption{ID: id, NoID: id == ""}), acts.NotRefused)
		}
		b.done(b.dismiss(5), acts.NotRefused)
		b.done(b.adopt(5, uuid.NewString()), acts.IsDismissed)

		b.orderJob(people.Resume(t.Context(), "contracts"))
		sent := b.pass()
		if sent["contracts"].Sent != 1 || sent["deliveries"].Sent != 1 {
			t.Errorf("%d contracts and %d deliveries were sent, want one of each", sent["contracts"].Sent,
				sent["deliveries"].Sent)
		}
		for _, r := range b.pass() {
			if r.Sent != 0 {
				t.Errorf("%s: %d rows were sent later", r.Job, r.Sent)
			}
		}
		for num := range 4 {
			if e := b.expect(num+1, trade.Accepted, ""); (num < 3) != (e.RecordedBy != 0) {
				t.Errorf("contract %d was accepted by act %d", num+1, e.RecordedBy)
			}
		}
	})
}

// F161: an administrator has rows read again: what changed is judged again, what was sent or is in
// doubt is never touched.
func TestF161AResyncReadsAgainAndSendsOnlyWhatIsDue(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.limits.MaxInFlight = 1
		b.api.SetFaults(faults(t, "lost-after@1")...)
		b.contracts(6)
		b.exec(`UPDATE contrato SET pagamento = NULL WHERE num >= '0004'`)
		// the window begins long after the others
		b.exec(`UPDATE contrato SET atualizado = '2026-04-20 08:00:00' WHERE num = '0006'`)
		b.sync(engine.Options{})
		b.api.SetFaults()
		frozen := map[int]string{1: string(b.entry(1).Payload), 2: string(b.entry(2).Payload)}
		// without a touched timestamp: no window shows it
		b.exec(`UPDATE contrato SET preco = 77`)
		b.exec(`UPDATE contrato SET pagamento = '2026-07-01' WHERE num >= '0004'`) // the same
		resync := func(r discovery.Resync, sent int, note string) trade.RunReport {
			t.Helper()
			got := b.sync(engine.Options{Resync: &r})
			if got.Sent != sent || got.Stopped != nil || note != "" && !strings.Contains(fmt.Sprint(got.Notes), note) {
				t.Errorf("%+v: sent %d, want %d; notes %q, stopped %+v", r, got.Sent, sent, got.Notes, got.Stopped)
			}
			return got
		}
		resync(discovery.Resync{Keys: []string{key(4), key(77)}}, 1,
			"1 keys that were asked for are not in the job's query: 01|0077")
		b.expect(5, trade.Invalid, "rule:payday")
		resync(discovery.Resync{States: []trade.State{trade.Accepted, trade.InDoubt}}, 0, "")
		b.flags(2, "[changed]")
		b.flagsOf(b.expect(1, trade.InDoubt, trade.CauseUnknown), "[changed]")
		for n, payload := range frozen {
			if got := string(b.entry(n).Payload); got != payload {
				t.Errorf("row %d, which was sent, has another payload", n)
			}
		}
		b.wants(b.sync(engine.Options{}), "sent 1") // row 6 shows itself by its time
		if r := resync(discovery.Resync{}, 1, ""); !r.Sweep || r.States[trade.Accepted] != 5 ||
			r.States[trade.InDoubt] != 1 {
			t.Errorf("sweep %v, states %v", r.Sweep, r.States)
		}
	})
}

// A resync of rows by key or by state needs no tick: nothing that may be on the platform already
// goes by it, also when the ERP has changed it, which only a retry or a resend with a tick does.
func TestAResyncSendsNoRowThatMayDouble(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.limits.MaxInFlight = 1
		b.spec.Twin = mapping.TwinCheck{Mode: mapping.TwinHold, Days: 30}
		b.api.SetFaults(faults(t, "status=422,empty@1", "duplicate@2", "lost-after@3")...)
		b.contracts(5)
		b.sync(engine.Options{})
		b.api.SetFaults()
		b.exec(`UPDATE contrato SET num = '0009', atualizado = '2026-03-13 08:00:00' WHERE num = '0004'`)
		b.duplicate("0005", "0008")
		b.sync(engine.Options{})
		standing := func() {
			t.Helper()
			b.expect(1, trade.Rejected, "")
			b.expect(2, trade.Held, trade.CauseExists)
			b.expect(3, trade.InDoubt, trade.CauseUnknown)
			b.expect(8, trade.Held, trade.CauseTwin)
			b.expect(9, trade.Held, trade.CauseRetyped)
		}
		standing()
		for _, price := range []string{"", `UPDATE contrato SET preco = 77`} {
			if price != "" {
				b.exec(price)
			}
			for _, asked := range []discovery.Resync{
				{Keys: []string{key(1), key(2), key(3), key(8), key(9)}},
				{States: []trade.State{trade.Rejected, trade.Held, trade.InDoubt}},
				{},
			} {
				b.wants(b.sync(engine.Options{Resync: &asked}), "sent 0, stop none")
				standing()
			}
		}
	})
}

// A pass that only records says nothing about what stopped a job: a person has to, before it sends.
func TestAPassThatOnlyRecordsEndsNoStop(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.limits.MaxInFlight, b.limits.StopAfterUnknown = 1, 2
		b.api.SetFaults(faults(t, "lost-after@1-2")...)
		b.contracts(5)
		b.sync(engine.Options{})
		stopped := must.Get(b.ledger.JobStatus(t.Context(), "contracts"))(t)
		if stopped.State != trade.Stopped || stopped.Stop == nil {
			t.Fatalf("the job is %+v", stopped)
		}
		reports := must.Get(b.engine().Sync(t.Context(), nil, engine.Options{RecordOnly: true}))(t)
		if b.adds(reports[0]); reports[0].Stopped != nil {
			t.Errorf("stopped: %+v", reports[0].Stopped)
		}
		if now := must.Get(b.ledger.JobStatus(t.Context(), "contracts"))(t); !reflect.DeepEqual(now, stopped) {
			t.Errorf("the job is %+v, and was %+v", now, stopped)
		}
		b.sync(engine.Options{}) // by hand: a person has looked
		if now := must.Get(b.ledger.JobStatus(t.Context(), "contracts"))(t); now.State != trade.Idle {
			t.Errorf("the job is %+v after a pass by hand", now)
		}
	})
}
