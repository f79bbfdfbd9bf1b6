package apiclient_test

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/apidoc"
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
var forms = []form{
	{"2.1", "order_commitments", fullRequest(), []fieldRow{
		{"amount", "1250.50", required, nil},
		{"producer_id", `"` + namedID + `"`, required, nil},
		{"issuer_id", `"` + otherID + `"`, required, nil},
		{"product", `"SOJA"`, required, []string{"SOJA", "TRIGO", "MILHO"}},
		{"delivery_place_id", `"` + namedID + `"`, required, nil},
		{"haverst", `"2026/2027"`, required, nil},
		{"unit_of_measurement", `"SC"`, required, []string{"SC", "KG", "TON"}},
		{"order_type", `"COMPRA"`, required, []string{"COMPRA", "FIXACAO_COMPRA", "FIXACAO_DEPOSITO", "A_FIXAR"}},
		{"order_date", `"2026-11-20"`, required, nil},
		{"wallet_id", `"` + otherID + `"`, required, nil},
		{"currency", `"BRL"`, forPurchase, []string{"BRL", "USD", "EUR"}},
		{"price", "120.35", forPurchase, nil},
		{"initial_delivery_date", `"2027-02-01"`, forPurchase, nil},
		{"end_delivery_date", `"2027-03-31"`, forPurchase, nil},
		{"modality", `"DISPONIVEL"`, forPurchase, []string{"BALCAO", "DISPONIVEL", "FUTURO", "EXPORTACAO"}},
		{"payday", `"2027-04-10"`, forPurchase, nil},
		{"payment_type", `"DINHEIRO"`, forPurchase, []string{"DINHEIRO", "TROCA"}},
	}},
	{"2.2", "deliveries", apiclient.DeliveryRequest{
		ContractID: "0101/001008", DeliveredVolume: "1250.50", DeliveredVolumeUnitOfMeasure: "sc",
		DeliveryDate: "2026-11-20", Car: "MT-5107925-0123",
	}, []fieldRow{
		{"contract_id", `"0101/001008"`, required, nil},
		{"delivered_volume", "1250.50", required, nil},
		{"delivered_volume_unit_of_measure", `"sc"`, required, []string{"kg", "sc", "ton"}},
		{"delivery_date", `"2026-11-20"`, required, nil},
		{"car", `"MT-5107925-0123"`, optional, nil},
	}},
	{"2.3", "traceability", apiclient.TraceabilityRequest{
		ProducerID: namedID, UserID: otherID, FarmID: otherID, AllocatedVolume: "12.5", UnitOfMeasurement: "KG",
	}, []fieldRow{
		{"producer_id", `"` + namedID + `"`, required, nil},
		{"user_id", `"` + otherID + `"`, required, nil},
		{"farm_id", `"` + otherID + `"`, optional, nil},
		{"allocated_volume", "12.5", optional, nil},
		{"unit_of_measurement", `"KG"`, optional, []string{"SC", "KG", "TON"}},
	}},
	{"2.5", "credit_score", apiclient.CreditScoreRequest{
		Name: "Ana & Filhos", SocialID: "123.456.789-09",
		Reports: []apiclient.CreditReport{apiclient.ReportCreditScore},
		CarList: []string{"c", "d"}, SigefList: []string{},
	}, []fieldRow{
		{"name", `"Ana & Filhos"`, required, nil},
		{"social_id", `"` + testCPF + `"`, required, nil},
		{"reports", `["CREDIT_SCORE"]`, required, nil},
		{"car_list", `["c","d"]`, optional, nil},
		{"sigef_list", `[]`, optional, nil},
	}},
	{"2.6", "credit_analysis", apiclient.CreditAnalysisRequest{
		RequesterID: namedID, RequesterName: "Rui", RequesterEmail: "rui@example.com", Name: "Ana",
		Identity: "12.abc.345/01de-35", AuthType: apiclient.AuthEmail, PersonType: apiclient.PJ, PeriodConsult: "12",
		Email: "a@b", Phone: "+55", CorporateName: "Ana Ltda", CorporateIdentity: "11.222.333/0001-81",
	}, []fieldRow{
		{"requester_id", `"` + namedID + `"`, required, nil},
		{"requester_name", `"Rui"`, required, nil},
		{"requester_email", `"rui@example.com"`, required, nil},
		{"name", `"Ana"`, required, nil},
		{"identity", `"` + testAlphaDoc + `"`, required, nil},
		{"auth_type", `"EMAIL"`, required, nil},
		{"person_type", `"PJ"`, required, []string{"PF", "PJ"}},
		{"period_consult", `"12"`, required, nil},
		{"email", `"a@b"`, optional, nil},
		{"phone", `"+55"`, optional, nil},
		{"corporate_name", `"Ana Ltda"`, optional, nil},
		{"corporate_identity", `"` + testCNPJ + `"`, optional, nil},
	}},
	{"2.7", "webhooks", apiclient.WebhookRequest{
		WebhookEvent: "CREATE_FARM", URL: "https://coop.example/hook", BasicAuthentication: "hook:word",
		HMACSecret: "s",
	}, []fieldRow{
		{"webhook_event", `"CREATE_FARM"`, required, apidoc.Events},
		{"url", `"https://coop.example/hook"`, required, nil},
		{"basic_authentication", `"hook:word"`, optional, nil},
		{"hmac_secret", `"s"`, optional, nil},
	}},
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

// with is the request with another value of a field, which is a text; "" empties any.
func with(request any, field, value string) any {
	changed := reflect.New(reflect.TypeOf(request)).Elem()
	changed.Set(reflect.ValueOf(request))
	at := changed.FieldByNameFunc(func(name string) bool {
		f, _ := changed.Type().FieldByName(name)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		return tag == field || name == fieldOfWebhook[field]
	})
	if at.SetZero(); value != "" {
		at.SetString(value)
	}
	return changed.Interface()
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
func members(t *testing.T, body []byte) (all map[string]json.RawMessage) {
	t.Helper()
	must.Do(t, json.Unmarshal(body, &all))
	return all
}

// without is the JSON object without a member.
func without(t *testing.T, body []byte, member string) []byte {
	t.Helper()
	all := members(t, body)
	delete(all, member)
	return must.Get(json.Marshal(all))(t)
}
