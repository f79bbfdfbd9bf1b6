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
	"github.com/safrasync/safrasync/internal/apidoc"
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

func TestEqualBodiesAreTwoRecordsBecauseTheAPIKnowsNoIdempotency(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{})
	one, two := b.post(body()), b.post(body())
	records := b.wantCreated(2)
	if records[0].ID == records[1].ID || one.body == two.body {
		t.Error("two creations share an id")
	}
	want := map[string]int{"POST " + orders: 2}
	if diff := cmp.Diff(want, b.Counts()); diff != "" || b.Requests() != 2 {
		t.Errorf("Counts (-want +got), Requests = %d:\n%s", b.Requests(), diff)
	}
}

func TestWhatIsAccepted(t *testing.T) {
	t.Parallel()
	conditional := []string{
		"currency", "", "price", "", "initial_delivery_date", "", "end_delivery_date", "", "modality", "", "payday", "",
		"payment_type", "",
	}
	tests := map[string]string{
		"A_FIXAR without the conditional fields": body(append(conditional, "order_type", `"A_FIXAR"`)...),
		"FIXACAO_COMPRA without the conditional fields": body(append(conditional, "order_type",
			`"FIXACAO_COMPRA"`)...),
		"FIXACAO_DEPOSITO without the conditional fields": body(append(conditional, "order_type",
			`"FIXACAO_DEPOSITO"`)...),
		"A_FIXAR with some of them":                     body("order_type", `"A_FIXAR"`, "price", "", "payday", ""),
		"an amount with an exponent":                    body("amount", "1e3"),
		"amounts that only a rule of ours would refuse": body("amount", "-1", "price", "0"),
		"a leap day":         body("order_date", `"2024-02-29"`),
		"an upper-case UUID": body("producer_id", quote(strings.ToUpper(producer))),
		"blanks around":      " \n" + body() + "\n ",
	}
	for name, sent := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, sandbox.Options{})
			if g := b.post(sent); g.status != http.StatusCreated {
				t.Errorf("POST = %d %s", g.status, g.body)
			}
			b.wantCreated(1)
		})
	}
}

func TestMalformedBodies(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "7 status 400 malformed")
	tests := map[string]string{
		"not JSON":                 "{",
		"an array":                 "[" + body() + "]",
		"a text":                   `"x"`,
		"null":                     "null",
		"two documents":            body() + body(),
		"garbage behind":           body() + "x",
		"a byte order mark":        "\ufeff" + body(),
		"bytes that are not UTF-8": body("product", "\"SOJ\xff\""),
		"an amount in quotes":      body("amount", `"12"`),
		"a price in quotes":        body("price", `"12"`),
		"an id as a number":        body("producer_id", "5"),
		"a date as a number":       body("order_date", "20260228"),
		"an enumeration as true":   body("product", "true"),
		"an object for a field":    body("haverst", "{}"),
		"an array for a field":     body("haverst", "[]"),
		"a decimal comma":          body("amount", "1,5"),
		"NaN":                      body("amount", "NaN"),
		"nested too deep":          body("x", strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000)),
	}
	for name, sent := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, sandbox.Options{})
			if g := b.post(sent); g.status != 400 || g.body != messages("message.malformed-request") {
				t.Errorf("POST = %d %s", g.status, g.body)
			}
			b.wantCreated(0)
		})
	}
}

func TestFieldFaultsAreListedAllAtOnceInTheOrderOfTheDocument(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "7 status 400 validation")
	type test struct {
		sent string
		keys []string
	}
	tests := map[string]test{
		"an empty object": {"{}", []string{
			"message.amount.mandatory", "message.producer_id.mandatory", "message.issuer_id.mandatory",
			"message.product.mandatory",
			"message.delivery_place_id.mandatory", "message.haverst.mandatory", "message.unit_of_measurement.mandatory",
			"message.order_type.mandatory", "message.order_date.mandatory", "message.wallet_id.mandatory",
		}},
		"several kinds": {body("wallet_id", "", "product", `"soja"`, "order_date", `"28/02/2026"`), []string{
			"message.product.invalid", "message.order_date.invalid", "message.wallet_id.mandatory",
		}},
		"a wrong order type asks for nothing more": {
			body("order_type", `"VENDA"`, "price", ""), []string{"message.order_type.invalid"},
		},
	}
	for _, name := range []string{
		"currency", "price", "initial_delivery_date", "end_delivery_date", "modality", "payday", "payment_type",
	} {
		tests["COMPRA without "+name] = test{body(name, ""), []string{"message." + name + ".mandatory"}}
	}
	invalid := map[string][]string{
		"producer_id": {
			`"x"`, `""`, quote(strings.ReplaceAll(producer, "-", "")),
			quote("{" + producer + "}"), quote("urn:uuid:" + producer),
		},
		"issuer_id":             {`"x"`},
		"delivery_place_id":     {`"x"`},
		"wallet_id":             {`"x"`},
		"product":               {`"ARROZ"`, `""`},
		"haverst":               {`"2025"`, `"25/26"`, `"2025/26"`, `"2025-2026"`, `"2025/2026 "`, `""`},
		"unit_of_measurement":   {`"sc"`, `"T"`},
		"order_type":            {`"compra"`},
		"order_date":            {`"2026-02-29"`, `"2026-2-8"`, `"2026-02-28T00:00:00Z"`, `""`, `"0000-00-00"`},
		"currency":              {`"R$"`},
		"initial_delivery_date": {`"2026-13-01"`},
		"end_delivery_date":     {`"x"`},
		"modality":              {`"BALCÃO"`},
		"payday":                {`"x"`},
		"payment_type":          {`"PIX"`},
	}
	for name, texts := range invalid {
		for _, text := range texts {
			tests[name+" "+text] = test{body(name, text), []string{"message." + name + ".invalid"}}
		}
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, sandbox.Options{})
			g := b.post(test.sent)
			if g.status != 400 {
				t.Errorf("POST = %d, want 400", g.status)
			}
			if diff := cmp.Diff(messages(test.keys...), g.body); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			b.wantCreated(0)
		})
	}
}

func TestAnOptionalFieldThatIsThereMustBeRightForEveryOrderType(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{})
	g := b.post(body("order_type", `"A_FIXAR"`, "currency", `"REAL"`))
	if g.status != 400 || g.body != messages("message.currency.invalid") {
		t.Errorf("POST = %d %s", g.status, g.body)
	}
}

func TestRetrievalRefuses(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "7 status 404")
	at := time.Date(2026, 2, 28, 12, 0, 0, 0, time.UTC)
	b := start(t, sandbox.Options{Now: func() time.Time { return at }})
	g := b.get(orders + "/" + someOther)
	if g.status != 404 || g.body != messages("message.order-commitment.not-found") {
		t.Errorf("unknown id = %d %s", g.status, g.body)
	}
	want := `{"timestamp":"2026-02-28T12:00:00Z","status":400,"error":"Bad Request","message":"message.order_commitment_id.invalid"}`
	for _, id := range []string{"5", "abc", "%2e%2e%2Fx", strings.ReplaceAll(someOther, "-", "")} {
		if g := b.get(orders + "/" + id); g.status != 400 || g.body != want {
			t.Errorf("id %s = %d %s", id, g.status, g.body)
		}
	}
}
