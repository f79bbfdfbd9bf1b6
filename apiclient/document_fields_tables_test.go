package apiclient_test

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/must"
)

// need says when a field of chapter 2 must be there.
type need int

const (
	required need = iota
	forPurchase
	optional
)

// fieldRow is one row of a table in chapter 2.
type fieldRow struct {
	name   string
	json   string // as it stands in flight when form.full is sent
	need   need
	values []string // the whole enumeration; nil: none
}

// form is one creating endpoint with its table.
type form struct {
	chapter  string
	resource string // as the sandbox names it
	full     any    // a request with every field
	fields   []fieldRow
}

func (f form) row(field string) string { return f.chapter + " " + field }

// forms are the tables 2.1 to 2.3 and 2.5 to 2.7, read from the document once more: neither from
// the client's types nor from the sandbox.
func forms() []form {
	text := func(s string) string { return `"` + s + `"` }
	delivery := deliveryRequest()
	delivery.Car = "MT-5107925-0123"
	trace := traceabilityRequest()
	trace.FarmID, trace.AllocatedVolume, trace.UnitOfMeasurement = otherID, "12.5", "KG"
	score := scoreRequest()
	score.CarList, score.SigefList = []string{"c", "d"}, []string{}
	analysis := analysisRequest()
	analysis.Email, analysis.Phone, analysis.CorporateName, analysis.CorporateIdentity = "a@b", "+55", "Ana Ltda",
		"11.222.333/0001-81"
	hook := webhookRequest()
	hook.BasicAuthentication, hook.HMACSecret = "hook:word", "s"
	units := []string{"SC", "KG", "TON"}
	var events []string
	for _, e := range apiclient.WebhookEvents {
		events = append(events, string(e))
	}
	return []form{
		{"2.1", "order_commitments", fullRequest(), []fieldRow{
			{"amount", "1250.50", required, nil},
			{"producer_id", text(namedID), required, nil},
			{"issuer_id", text(otherID), required, nil},
			{"product", `"SOJA"`, required, []string{"SOJA", "TRIGO", "MILHO"}},
			{"delivery_place_id", text(namedID), required, nil},
			{"haverst", `"2026/2027"`, required, nil},
			{"unit_of_measurement", `"SC"`, required, units},
			{"order_type", `"COMPRA"`, required, []string{"COMPRA", "FIXACAO_COMPRA", "FIXACAO_DEPOSITO", "A_FIXAR"}},
			{"order_date", `"2026-11-20"`, required, nil},
			{"wallet_id", text(otherID), required, nil},
			{"currency", `"BRL"`, forPurchase, []string{"BRL", "USD", "EUR"}},
			{"price", "120.35", forPurchase, nil},
			{"initial_delivery_date", `"2027-02-01"`, forPurchase, nil},
			{"end_delivery_date", `"2027-03-31"`, forPurchase, nil},
			{"modality", `"DISPONIVEL"`, forPurchase, []string{"BALCAO", "DISPONIVEL", "FUTURO", "EXPORTACAO"}},
			{"payday", `"2027-04-10"`, forPurchase, nil},
			{"payment_type", `"DINHEIRO"`, forPurchase, []string{"DINHEIRO", "TROCA"}},
		}},
		{"2.2", "deliveries", delivery, []fieldRow{
			{"contract_id", `"0101/001008"`, required, nil},
			{"delivered_volume", "1250.50", required, nil},
			{"delivered_volume_unit_of_measure", `"sc"`, required, []string{"kg", "sc", "ton"}},
			{"delivery_date", `"2026-11-20"`, required, nil},
			{"car", `"MT-5107925-0123"`, optional, nil},
		}},
		{"2.3", "traceability", trace, []fieldRow{
			{"producer_id", text(namedID), required, nil},
			{"user_id", text(otherID), required, nil},
			{"farm_id", text(otherID), optional, nil},
			{"allocated_volume", "12.5", optional, nil},
			{"unit_of_measurement", `"KG"`, optional, units},
		}},
		{"2.5", "credit_score", score, []fieldRow{
			{"name", `"Ana & Filhos"`, required, nil},
			{"social_id", text(testCPF), required, nil},
			{"reports", `["CREDIT_SCORE"]`, required, nil},
			{"car_list", `["c","d"]`, optional, nil},
			{"sigef_list", `[]`, optional, nil},
		}},
		{"2.6", "credit_analysis", analysis, []fieldRow{
			{"requester_id", text(namedID), required, nil},
			{"requester_name", `"Rui"`, required, nil},
			{"requester_email", `"rui@example.com"`, required, nil},
			{"name", `"Ana"`, required, nil},
			{"identity", text(testAlphaDoc), required, nil},
			{"auth_type", `"EMAIL"`, required, nil},
			{"person_type", `"PJ"`, required, []string{"PF", "PJ"}},
			{"period_consult", `"12"`, required, nil},
			{"email", `"a@b"`, optional, nil},
			{"phone", `"+55"`, optional, nil},
			{"corporate_name", `"Ana Ltda"`, optional, nil},
			{"corporate_identity", text(testCNPJ), optional, nil},
		}},
		{"2.7", "webhooks", hook, []fieldRow{
			{"webhook_event", `"CREATE_FARM"`, required, events},
			{"url", `"https://coop.example/hook"`, required, nil},
			{"basic_authentication", `"hook:word"`, optional, nil},
			{"hmac_secret", `"s"`, optional, nil},
		}},
	}
}

// enumerations are the client's lists, by the row that they are for.
var enumerations = map[string]any{
	"2.6 person_type": apiclient.PersonTypes, "2.7 webhook_event": apiclient.WebhookEvents,
}

// fieldOfWebhook are the names of WebhookRequest, which has no tags: it is never encoded by itself.
var fieldOfWebhook = map[string]string{
	"webhook_event": "WebhookEvent", "url": "URL", "basic_authentication": "BasicAuthentication",
	"hmac_secret": "HMACSecret",
}

// with is the request with another value of a field; "" empties it.
func with(t *testing.T, request any, field, value string) any {
	t.Helper()
	changed := reflect.New(reflect.TypeOf(request)).Elem()
	changed.Set(reflect.ValueOf(request))
	for i := range changed.NumField() {
		f := changed.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != field && f.Name != fieldOfWebhook[field] {
			continue
		}
		switch at := changed.Field(i); {
		case value == "":
			at.SetZero()
		case at.Kind() == reflect.String:
			at.SetString(value)
		default:
			t.Fatalf("%s is no text", field)
		}
		return changed.Interface()
	}
	t.Fatalf("%T has no field %s", request, field)
	return nil
}

// send makes the call for a request; commitment is what a traceability belongs to.
func send(t *testing.T, c *apiclient.Client, commitment string, request any) (a apiclient.Answer, err error) {
	t.Helper()
	ctx := context.Background()
	switch r := request.(type) {
	case apiclient.OrderCommitmentRequest:
		return c.CreateOrderCommitment(ctx, r)
	case apiclient.DeliveryRequest:
		_, a, err = c.CreateDelivery(ctx, r)
		return a, err
	case apiclient.TraceabilityRequest:
		return c.CreateTraceability(ctx, commitment, r)
	case apiclient.CreditScoreRequest:
		_, a, err = c.RequestCreditScore(ctx, r)
		return a, err
	case apiclient.CreditAnalysisRequest:
		return c.CreateCreditAnalysis(ctx, r)
	case apiclient.WebhookRequest:
		return c.CreateWebhook(ctx, r)
	}
	t.Fatalf("no call for a %T", request)
	return a, nil
}

// members are the members of a JSON object as written.
func members(t *testing.T, body []byte) map[string]string {
	t.Helper()
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(body, &raw); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	out := map[string]string{}
	for name, value := range raw {
		out[name] = string(value)
	}
	return out
}

// without is the JSON object without a member.
func without(t *testing.T, body []byte, member string) []byte {
	t.Helper()
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(body, &all); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	delete(all, member)
	out := must.Get(json.Marshal(all))(t)
	return out
}
