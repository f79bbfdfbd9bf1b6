package sandbox_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/safrasync/safrasync/apiclient/sandbox"
)

func TestACreationIsExecutedEchoedStoredAndLogged(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 2, 28, 12, 0, 0, 0, time.UTC)
	b := start(t, sandbox.Options{Now: func() time.Time { return at }})
	sent := body()
	g := b.post(sent)
	if g.status != http.StatusCreated || g.header.Get("Content-Type") != "application/json" {
		t.Fatalf("POST = %d %s", g.status, g.header.Get("Content-Type"))
	}
	records := b.wantCreated(1)
	rec := records[0]
	if id, err := uuid.Parse(rec.ID); err != nil || id.Version() != 4 {
		t.Errorf("id %q is no UUID of version 4", rec.ID)
	}
	if rec.N != 1 || rec.Resource != "order_commitments" || !rec.At.Equal(at) || string(rec.Body) != sent {
		t.Errorf("record = %+v", rec)
	}
	if rec.Header.Get("Authorization") != "" || rec.Header.Get("Content-Type") == "" {
		t.Errorf("header of the record = %v, want all but Authorization", rec.Header)
	}
	if got := rec.Fields["amount"]; got != json.Number("1234.50") {
		t.Errorf("decoded amount = %#v, want the digits as sent", got)
	}
	want := `{"id":"` + rec.ID + `","amount":1234.50,"producer_id":"` + producer + `","issuer_id":"` + issuer +
		`","product":"SOJA",` +
		`"delivery_place_id":"` + place +
		`","haverst":"2025/2026","unit_of_measurement":"SC","order_type":"COMPRA","order_date":"2026-02-28",` +
		`"wallet_id":"` + wallet + `","currency":"BRL","price":98.7600,"initial_delivery_date":"2026-03-01",` +
		`"end_delivery_date":"2026-04-30","modality":"FUTURO","payday":"2026-05-10","payment_type":"DINHEIRO"}`
	if diff := cmp.Diff(want, g.body); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, b.get(orders+"/"+rec.ID).body); diff != "" {
		t.Errorf("retrieval (-want +got):\n%s", diff)
	}
	if g := b.get(orders + "/" + strings.ToUpper(rec.ID)); g.status != http.StatusOK {
		t.Errorf("retrieval with an upper-case id = %d", g.status)
	}
	line := b.lines()[0]
	wantLine := sandbox.Line{
		Time: at, N: 1, Method: "POST", Path: orders, Executed: true, Resource: "order_commitments", ID: rec.ID,
		Status: 201, Body: json.RawMessage(sent),
	}
	if diff := cmp.Diff(wantLine, line); diff != "" {
		t.Errorf("truth log (-want +got):\n%s", diff)
	}
}
