package reconcile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/internal/ledgertest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// saturday is the moment of the tests, the day after the month that they close.
var saturday = time.Date(2026, 10, 31, 15, 0, 0, 0, time.UTC)

var saoPaulo = func() *time.Location {
	zone, err := time.LoadLocation("America/Sao_Paulo")
	if err != nil {
		panic(err)
	}
	return zone
}()

const (
	producerID = "11111111-1111-4111-8111-111111111111"
	placeID    = "44444444-4444-4444-8444-444444444444"
)

// both runs a test with a ledger in SQLite and one in PostgreSQL.
func both(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	ledgertest.Both(t, func(t *testing.T, driver string) { test(t, newWorld(t, driver)) })
}

// world is a ledger with two jobs, contracts and deliveries, whose columns are named as the API's
// fields.
type world struct {
	t     testing.TB
	store *ledgertest.Ledger
	jobs  []*mapping.Job
	now   time.Time
	n     int

	moment *state.Store // of the rows that were taken last
}

func newWorld(t testing.TB, driver string) *world {
	t.Helper()
	store := ledgertest.Open(t, driver)
	w := &world{t: t, store: store, now: saturday}
	for kind, codes := range map[string]map[string]string{"producers": {
		"P1|01": producerID,
		"P2|01": "11111111-1111-4111-8111-111111111112",
	}, "delivery_places": {"001": placeID}} {
		must.Get(store.ReplaceReferences(t.Context(), kind, codes, nil))(t)
	}
	contracts := mapping.JobSpec{
		Name: "contracts", Sends: trade.OrderCommitments, Query: "SELECT 1", Sweep: "0 3 * * *",
		Schedule: "0 * * * *", Key: []string{"filial", "num"}, Fields: columns(trade.OrderCommitments),
	}
	contracts.Fields["producer_id"] = mapping.FieldSpec{Columns: []string{"produtor"}, Ref: "producers"}
	contracts.Fields["delivery_place_id"] = mapping.FieldSpec{Columns: []string{"local"}, Ref: "delivery_places"}
	loads := mapping.JobSpec{
		Name: "deliveries", Sends: trade.Deliveries, Query: "SELECT 1", Sweep: "0 3 * * *",
		Schedule: "0 * * * *", Key: []string{"ticket"}, Fields: columns(trade.Deliveries),
	}
	loads.Fields["contract_id"] = mapping.FieldSpec{
		Columns: []string{"filial", "num"},
		SentBy:  []mapping.ParentSpec{{Job: "contracts", Columns: []string{"filial", "num"}}},
	}
	for _, spec := range []mapping.JobSpec{contracts, loads} {
		w.jobs = append(w.jobs, must.Get(mapping.Compile(spec, saoPaulo))(t))
	}
	return w
}

func columns(kind trade.Kind) map[string]mapping.FieldSpec {
	out := map[string]mapping.FieldSpec{}
	for _, rule := range trade.Rules(kind) {
		out[rule.Field] = mapping.FieldSpec{Columns: []string{rule.Field}}
	}
	return out
}

// row is one row of the ERP as the tests write it: fields of the API by name, and the columns of
// the codes.
type row map[string]string

func (r row) with(more row) row {
	out := maps.Clone(r)
	maps.Copy(out, more)
	return out
}

var soy = row{
	"amount": "100", "unit_of_measurement": "SC", "product": "SOJA", "haverst": "2025/2026", "order_type": "COMPRA",
	"order_date": "2026-10-05", "currency": "BRL", "price": "130.50",
	"produtor": "P1|01", "local": "001", "wallet_id": "33333333-3333-4333-8333-333333333310",
	"issuer_id": "22222222-2222-4222-8222-222222222222",
}

func (r row) values() trade.Values {
	out := trade.Values{}
	for column, text := range r {
		out[column] = trade.Cell{Kind: 't', Text: text}
	}
	return out
}

// payload is what would leave for the row.
func (r row) payload(kind trade.Kind) json.RawMessage {
	body := map[string]any{}
	for _, rule := range trade.Rules(kind) {
		text := r.with(row{"producer_id": producerID, "delivery_place_id": placeID})[rule.Field]
		switch {
		case text == "":
		case rule.Type == trade.Number:
			body[rule.Field] = json.Number(text)
		default:
			body[rule.Field] = text
		}
	}
	raw, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return raw
}

// add records a row that is pending; change may make something else of it.
func (w *world) add(job, key string, r row, change ...func(*trade.Entry)) trade.Entry {
	w.t.Helper()
	kind := trade.Kind(job)
	if job == "contracts" {
		kind = trade.OrderCommitments
	}
	draft := trade.Draft{Sends: kind, Fields: map[string]trade.DraftField{}}
	for k, v := range r {
		draft.Fields[k] = trade.DraftField{Text: v}
	}
	e := trade.Entry{
		Sends: kind, Key: key, KeyParts: []trade.Cell{{Kind: 't', Text: key}}, State: trade.Pending, Generation: 1,
		FirstSeenAt: w.now, UpdatedAt: w.now,
		Values: r.values(), SourceHash: trade.HashOf("s" + key), MappedWith: "m", Payload: r.payload(kind),
		PayloadHash: trade.HashOf("h" + key), Quantity: draft.Quantity(),
	}
	e.Facts.AddDraft(draft)
	for _, c := range change {
		c(&e)
	}
	w.store.RecordPage(job, trade.Page{New: []trade.Entry{e}})
	return w.store.Read(job, key)
}

// change makes something else of an entry.
func (w *world) change(e trade.Entry, change func(*trade.Entry)) trade.Entry {
	w.t.Helper()
	after := e
	change(&after)
	after.UpdatedAt = w.now
	w.store.RecordPage(e.Job, trade.Page{Updates: []trade.Update{{From: e.State, Entry: after}}})
	return w.store.Read(e.Job, e.Key)
}

// remoteID is the nth id that the platform gives.
func remoteID(n int) string { return fmt.Sprintf("1b98fbe4-6680-4a11-9ba1-%012d", n) }

// send sends an entry with an outcome.
func (w *world) send(e trade.Entry, outcome trade.Outcome) trade.Entry {
	w.t.Helper()
	w.n++
	a := trade.Attempt{
		ID: must.Get(uuid.NewV7())(w.t).String(), RunID: "run", EntryID: e.ID, Payload: e.Payload,
		PayloadHash: e.PayloadHash, StartedAt: w.now,
	}
	w.store.CommitGroup(e.Job, trade.Group{At: w.now, Intents: []trade.Intent{{Entry: e, Attempt: a}}})
	a.Outcome, a.FinishedAt = outcome, w.now
	s := trade.Settlement{Attempt: a, State: trade.Accepted, Counts: true}
	switch outcome {
	case trade.OutcomeCreated:
		s.Attempt.RemoteID, s.Attempt.Status = remoteID(w.n), 201
	case trade.OutcomeUnknown:
		s.State, s.Cause, s.Kind = trade.InDoubt, trade.CauseUnknown, trade.TransportError
		s.Attempt.Reason = trade.SenderGone()
	case trade.OutcomeNotCreated:
		s.State, s.Cause, s.Attempt.Status, s.Attempt.Messages = trade.Rejected, "message.wallet.not-found", 404,
			[]string{"message.wallet.not-found", "message.odd.thing"}
		s.Kind, s.Attempt.Reason = trade.APIError, trade.Say("attempt.malformed")
	}
	w.store.CommitGroup(e.Job, trade.Group{At: w.now, Settle: []trade.Settlement{s}})
	return w.store.Read(e.Job, e.Key)
}

// sweep records that a complete sweep found so many rows and missed others.
func (w *world) sweep(job string, inScope, gone int) {
	w.t.Helper()
	cursor := trade.Cursor{SweptAt: w.now, Sweep: &trade.Sweep{InScope: inScope, Gone: gone}}
	w.store.RecordPage(job, trade.Page{Cursor: &cursor})
}

func (w *world) acts() *acts.Acts {
	return &acts.Acts{
		Ledger: w.store, JobLedger: w.store, Jobs: w.jobs, Now: func() time.Time { return w.now },
		Boot: "boot", Clock: clock.SystemClock{},
	}
}

// dismiss takes rows out.
func (w *world) dismiss(job string, keys ...string) {
	w.t.Helper()
	people := w.acts()
	plan, err := people.Dismiss(w.t.Context(), job, keys)
	if err == nil {
		plan, err = people.Do(w.t.Context(), plan,
			trade.Person{Name: "maria", From: "maria@srv", Reason: "typed twice"})
	}
	if err != nil || len(plan.Steps) != len(keys) {
		w.t.Fatalf("%+v, %v", plan, err)
	}
}

// take returns a report's rows of the ledger as it is now. Those that were taken before cannot be read
// any more.
func (w *world) take(cut Cut) *Snapshot {
	w.t.Helper()
	if w.moment == nil {
		w.t.Cleanup(func() { must.Do(w.t, w.moment.Close()) })
	} else {
		must.Do(w.t, w.moment.Close())
	}
	w.moment = must.Get(w.store.Moment(w.t.Context()))(w.t)
	s := must.Get(TakeSnapshot(w.t.Context(), Sources{
		Ledger: w.moment, Jobs: w.jobs, Zone: saoPaulo, Now: w.now, Program: "1.0.0-test", Name: "Cooperativa",
	}, cut))(w.t)
	s.Head.ID = "01a20039-0000-7000-8000-000000000000"
	return s
}

var portuguese = Options{Lang: trade.Portuguese, Tolerance: DefaultTolerance()}

func mustReport(t testing.TB, s *Snapshot, o Options, writer func(*bytes.Buffer) Writer) string {
	t.Helper()
	var b bytes.Buffer
	must.Get(s.Report(o, writer(&b)))(t)
	return b.String()
}

// told records what an event told of a record, at a moment.
func (w *world) told(status trade.ReportedStatus, id, word string, at time.Time) {
	w.t.Helper()
	w.n++
	event, kind := status.Event()
	must.Do(w.t, w.store.StoreNotes(w.t.Context(),
		[]trade.EventNote{{Kind: kind, ID: id, Event: event, Seq: int64(w.n), At: at, Word: word}}, nil))
}

// october is a month with something of everything.
func (w *world) october() {
	w.t.Helper()
	afixar := soy.with(row{"order_type": "A_FIXAR", "amount": "200", "price": "", "currency": ""})
	w.send(w.add("contracts", "01|000001", soy), trade.OutcomeCreated)
	w.send(w.add("contracts", "01|000002", afixar), trade.OutcomeCreated)
	w.send(w.add("contracts", "01|000003",
		soy.with(row{"order_type": "FIXACAO_COMPRA", "amount": "50", "price": "140"})), trade.OutcomeCreated)
	w.send(w.add("contracts", "01|000004",
		soy.with(row{
			"order_type": "FIXACAO_DEPOSITO", "amount": "1.5", "unit_of_measurement": "TON", "currency": "USD",
			"price": "410.123456",
		})), trade.OutcomeCreated)
	w.send(w.add("contracts", "02|000005",
		soy.with(row{"product": "MILHO", "amount": "0.1", "price": "0.1", "produtor": "P2|01"})),
		trade.OutcomeNotCreated)
	w.send(w.add("contracts", "02|000006", soy.with(row{"amount": "70"})), trade.OutcomeUnknown)
	changed := w.send(w.add("contracts", "02|000007", soy.with(row{"amount": "60"})), trade.OutcomeCreated)
	w.change(changed, func(e *trade.Entry) {
		now := soy.with(row{"amount": "61"})
		e.Flags, e.Now, e.Quantity = e.Flags.With(trade.Changed, true), now.values(),
			trade.Quantity{Amount: trade.NewDecimal(61, 0), Unit: trade.SC}
	})
	w.add("contracts", "02|000008", soy.with(row{"amount": "-5", "product": "=FEIJAO"}), func(e *trade.Entry) {
		e.State, e.Cause, e.Payload, e.PayloadHash = trade.Invalid, "rule:payday", nil, ""
		e.Error = &trade.EntryError{
			Kind:   trade.ValidationError,
			Fields: []trade.Problem{{Field: "payday", Rule: trade.RuleRequiredFor + "COMPRA", Column: "dt_pagto"}},
		}
	})
	w.add("contracts", "02|000009", soy.with(row{"amount": "40"}))
	w.dismiss("contracts", "02|000009")
	gone := w.send(w.add("contracts", "02|000010", soy.with(row{"amount": "30"})), trade.OutcomeCreated)
	w.change(gone, func(e *trade.Entry) { e.Flags, e.GoneSweeps = e.Flags.With(trade.MissingInERP, true), 1 })
	w.sweep("contracts", 9, 1)
	load := row{
		"filial": "01", "num": "000001", "delivered_volume": "6001", "delivered_volume_unit_of_measure": "kg",
		"delivery_date": "2026-10-20", "car": "",
	}
	w.send(w.add("deliveries", "0001", load), trade.OutcomeCreated)
	w.add("deliveries", "0002", load.with(row{"num": "000002", "delivered_volume": "1000.5"}), func(e *trade.Entry) {
		e.State, e.Cause, e.WaitingFor, e.Payload, e.PayloadHash = trade.Waiting, trade.CauseParent,
			[]trade.Awaited{{Job: "contracts", Key: "01|000002"}}, nil, ""
	})
	w.sweep("deliveries", 2, 0)
	w.told(trade.Workflow, remoteID(1), "APPROVED", w.now)
	w.told(trade.Workflow, remoteID(2), "", w.now)
	w.told(trade.ProducerESG, producerID, "BLOCKED", w.now)
}
