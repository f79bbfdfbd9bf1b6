package apiclient_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/apidoc"
	"github.com/safrasync/safrasync/internal/must"
)

func fullRequest() apiclient.OrderCommitmentRequest {
	return apiclient.OrderCommitmentRequest{
		Amount: "1250.50", ProducerID: namedID, IssuerID: otherID, Product: "SOJA", DeliveryPlaceID: namedID,
		Haverst: "2026/2027", UnitOfMeasurement: "SC", OrderType: "COMPRA", OrderDate: "2026-11-20",
		WalletID: otherID, Currency: "BRL", Price: "120.35", InitialDeliveryDate: "2027-02-01",
		EndDeliveryDate: "2027-03-31", Modality: "DISPONIVEL", Payday: "2027-04-10",
		PaymentType: "DINHEIRO",
	}
}

func TestTheBodyHasTheOrderOfTheChapterAndUnquotedNumbers(t *testing.T) {
	t.Parallel()
	want := `{"amount":1250.50,"producer_id":"` + namedID + `","issuer_id":"` + otherID + `","product":"SOJA",` +
		`"delivery_place_id":"` + namedID +
		`","haverst":"2026/2027","unit_of_measurement":"SC","order_type":"COMPRA",` +
		`"order_date":"2026-11-20","wallet_id":"` + otherID + `","currency":"BRL","price":120.35,` +
		`"initial_delivery_date":"2027-02-01","end_delivery_date":"2027-03-31","modality":"DISPONIVEL",` +
		`"payday":"2027-04-10","payment_type":"DINHEIRO"}`
	for range 3 {
		got := must.Get(fullRequest().Encode())(t)
		if d := cmp.Diff(want, string(got)); d != "" {
			t.Errorf("body (-want +got):\n%s", d)
		}
	}
}

func TestEmptyOptionalFieldsAreAbsentAndRequiredOnesAreNot(t *testing.T) {
	t.Parallel()
	const required = `"producer_id":"p","issuer_id":"i","product":"SOJA","delivery_place_id":"d","haverst":"<2026&2027>",` +
		`"unit_of_measurement":"SC","order_type":"A_FIXAR","order_date":"2026-11-20","wallet_id":"w"}`
	r := apiclient.OrderCommitmentRequest{
		Amount: "1", ProducerID: "p", IssuerID: "i", Product: "SOJA", DeliveryPlaceID: "d",
		Haverst:           "<2026&2027>",
		UnitOfMeasurement: "SC", OrderType: "A_FIXAR", OrderDate: "2026-11-20", WalletID: "w",
	}
	got, err := r.Encode()
	if want := `{"amount":1,` + required; err != nil || string(got) != want {
		t.Errorf("body = %s, %v; want %s", got, err, want)
	}
}

func TestFieldsOfAnOrderCommitmentThatAreMissingAreNamedTogetherAndNeverSent(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Client, "4 rule 1")
	compra := fullRequest()
	compra.Currency, compra.Price, compra.InitialDeliveryDate, compra.EndDeliveryDate = "", "", "", ""
	compra.Modality, compra.Payday, compra.PaymentType = "", "", ""
	s := startRaw(t, always(201, created))
	c := s.client(t)
	for want, r := range map[string]apiclient.OrderCommitmentRequest{
		"amount is missing; producer_id is missing; issuer_id is missing; product is missing; delivery_place_id is missing; haverst is missing; " +
			"unit_of_measurement is missing; order_type is missing; order_date is missing; wallet_id is missing": {},
		"currency is missing; price is missing; initial_delivery_date is missing; end_delivery_date is missing; modality is missing; " +
			"payday is missing; payment_type is missing": compra,
	} {
		a, err := c.CreateOrderCommitment(context.Background(), r)
		wantKnown(t, a, err, apiclient.NotSent, apiclient.FaultRequest)
		if err.Error() != "create order commitment: not sent: "+want {
			t.Errorf("error = %q, want %q", err, want)
		}
	}
	if n := s.conns.Load(); n != 0 {
		t.Errorf("%d connections, want 0", n)
	}
	for _, other := range []string{
		"FIXACAO_COMPRA", "FIXACAO_DEPOSITO",
		"A_FIXAR", "NEW",
	} {
		r := compra
		r.OrderType = other
		if _, err := r.Encode(); err != nil {
			t.Errorf("%s without the conditional fields: %v", other, err)
		}
	}
}

func TestNumbersThatAreNotPlainDecimalTextAreRefused(t *testing.T) {
	t.Parallel()
	for _, n := range []json.Number{
		"", " 1", "1 ", "+1", ".5", "5.", "01", "1e3", "1E3", "NaN", "Infinity", "-", "--1", "1,5", "1.2.3", "0x1",
		"1\n", "१",
	} {
		r := fullRequest()
		r.Amount = n
		if b, err := r.Encode(); err == nil || !strings.Contains(err.Error(), "amount") {
			t.Errorf("Encode with amount %q = %s, %v; want an error that names amount", n, b, err)
		}
		r = fullRequest()
		r.Price = n
		if b, err := r.Encode(); err == nil || !strings.Contains(err.Error(), "price") {
			t.Errorf("Encode with price %q = %s, %v; want an error that names price", n, b, err)
		}
	}
	for _, n := range []json.Number{
		"0", "-0", "-1.50",
		"123456789012345678901234567890.123456789012345678901234567890",
	} {
		r := fullRequest()
		r.Amount = n
		if b, err := r.Encode(); err != nil || !strings.HasPrefix(string(b), `{"amount":`+string(n)+`,`) {
			t.Errorf("Encode with amount %s = %s, %v; want the digits unchanged", n, b, err)
		}
	}
}

func TestF032TextThatIsNotUTF8IsRefusedAndNamed(t *testing.T) {
	t.Parallel()
	r := fullRequest()
	r.Haverst = "2026\xc3"
	if _, err := r.Encode(); err == nil || !strings.Contains(err.Error(), "haverst is not valid UTF-8") {
		t.Errorf("Encode = %v, want haverst named", err)
	}
}

func getFrom(t *testing.T, answer answerFunc, id string) (apiclient.ReadBack, *rawServer, error) {
	t.Helper()
	s := startRaw(t, answer)
	oc, err := s.client(t).GetOrderCommitment(context.Background(), id)
	return oc, s, err
}

func TestARetrievedOrderCommitmentIsReadTolerantly(t *testing.T) {
	t.Parallel()
	want := apiclient.ReadBack{ID: testID, Fields: map[string]string{
		"amount": "1250.50", "producer_id": "p", "issuer_id": "i", "product": "SOJA", "delivery_place_id": "d",
		"haverst": "2026/2027", "unit_of_measurement": "SC", "order_type": "COMPRA", "order_date": "2026-11-20",
		"wallet_id": "w", "currency": "BRL", "price": "120.35", "initial_delivery_date": "2027-02-01",
		"end_delivery_date": "2027-03-31", "modality": "DISPONIVEL", "payday": "2027-04-10",
		"payment_type": "DINHEIRO",
	}}
	for name, body := range map[string]string{
		"as created": `{"id":"` + testID + `","amount":1250.50,"producer_id":"p","issuer_id":"i","product":"SOJA",` +
			`"delivery_place_id":"d","haverst":"2026/2027","unit_of_measurement":"SC","order_type":"COMPRA",` +
			`"order_date":"2026-11-20","wallet_id":"w","currency":"BRL","price":120.35,"initial_delivery_date":"2027-02-01",` +
			`"end_delivery_date":"2027-03-31","modality":"DISPONIVEL","payday":"2027-04-10","payment_type":"DINHEIRO"}`,
		"in other shapes": `{"commitment_id":"` + strings.ToUpper(testID) +
			`","amount":"1250.50","producer_id":"p","issuer_id":"i",` +
			`"product":"SOJA","delivery_place_id":"d","haverst":"2026/2027","unit_of_measurement":{"id":3,"code":"SC","name":"Saca"},` +
			`"order_type":"COMPRA","order_date":"2026-11-20T23:59:59.999-03:00","wallet_id":"w","currency":"BRL","price":"120.35",` +
			`"initial_delivery_date":"2027-02-01T00:00:00Z","end_delivery_date":"2027-03-31 00:00:00","modality":"DISPONIVEL",` +
			`"payday":"2027-04-10","payment_type":"DINHEIRO","status":{"x":[1]},"x":1,"x":2}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, s, err := getFrom(t, always(200, body), "  "+strings.ToUpper(testID))
			must.Do(t, err)
			w := want
			w.Raw = json.RawMessage(body)
			if d := cmp.Diff(w, got); d != "" {
				t.Errorf("GetOrderCommitment (-want +got):\n%s", d)
			}
			r := s.requests()[0]
			if r.Method != "GET" || r.URL.Path != postPath+"/"+testID || r.Header.Get("Content-Type") != "" {
				t.Errorf("request = %s %s, Content-Type %q", r.Method, r.URL.Path, r.Header.Get("Content-Type"))
			}
		})
	}
}

func TestFieldsInNoKnownShapeStayEmptyAndAreNamed(t *testing.T) {
	t.Parallel()
	got, _, err := getFrom(t, always(200, `{"id":"`+testID+`","commitment_id":"`+otherID+`","amount":true,"price":"12,5",
		"order_date":"20/11/2026","payday":5,"unit_of_measurement":{"name":"x"},"product":["SOJA"],
		"currency":"BRL","currency":"USD","wallet_id":null}`), testID)
	if err == nil {
		want := []string{
			"commitment_id", "amount", "product", "unit_of_measurement", "order_date", "currency",
			"price", "payday",
		}
		if d := cmp.Diff(want, got.Unread); d != "" {
			t.Errorf("Unread (-want +got):\n%s", d)
		}
		if got.ID != "" || len(got.Fields) > 0 {
			t.Errorf("got %+v", got)
		}
		return
	}
	t.Fatal(err)
}

func TestAnAnswerAboutAnotherOrderCommitmentIsAnError(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"id":"` + otherID + `"}`, `[]`, `null`, `<html>`, ``, `{"id":"` + testID + `"}{}`} {
		oc, _, err := getFrom(t, always(200, body), testID)
		if e := asError(t, err); e.Fault != apiclient.FaultProtocol || e.Status != 200 || oc.ID != "" {
			t.Errorf("%s: %v, fault %v", body, oc, e.Fault)
		}
	}
}

func TestF105OnlyAUUIDEverBecomesPartOfAPath(t *testing.T) {
	t.Parallel()
	for _, id := range []string{
		"", "abc", "../../x", testID + "/x", "{" + testID + "}", strings.Repeat("0", 32),
		testID[:35] + "?",
	} {
		_, s, err := getFrom(t, always(200, `{}`), id)
		e := asError(t, err)
		if e.Known != apiclient.NotSent || e.Fault != apiclient.FaultRequest {
			t.Errorf("%q: %v", id, err)
		}
		if n := s.conns.Load(); n != 0 {
			t.Errorf("%q: %d connections", id, n)
		}
	}
}

func TestA404InAFormOfTheAPIIsToldFromOneThatIsNot(t *testing.T) {
	t.Parallel()
	_, s, err := getFrom(t, always(404, `{"messages":["message.order-commitment.not-found"]}`), testID)
	e := asError(t, err)
	if e.Status != 404 || !e.APIForm() || !e.HasMessage("message.order-commitment.not-found") || e.HasMessage("x") {
		t.Errorf("error = %v", err)
	}
	if n := len(s.requests()); n != 1 {
		t.Errorf("a 404 was asked for %d times", n)
	}
	_, _, err = getFrom(t, always(404, `<html>`), testID)
	if asError(t, err).APIForm() {
		t.Error("a page of HTML counts as a form of the API")
	}
}
