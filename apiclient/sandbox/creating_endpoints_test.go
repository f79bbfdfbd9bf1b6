package sandbox_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
)

// kindOf is one creating endpoint with a complete request; values are raw JSON. path has no host;
// {commitment} in it is replaced by the id of an order commitment that is created first.
type kindOf struct {
	chapter  string // chapter of the fields
	path     string
	fields   map[string]string
	required []string
	texts    []string // fields that are texts: a number there is malformed
	numbers  []string
	lists    []string
	invalid  map[string][]string // values outside a shape or an enumeration
}

var creations = map[string]kindOf{
	sandbox.ResourceOrderCommitments: {
		chapter: "2.1", path: orders, fields: map[string]string{
			"amount": "1234.50", "producer_id": quote(producer), "issuer_id": quote(issuer), "product": `"SOJA"`,
			"delivery_place_id": quote(place), "haverst": `"2025/2026"`, "unit_of_measurement": `"SC"`,
			"order_type": quote(purchase),
			"order_date": `"2026-02-28"`, "wallet_id": quote(wallet), "currency": `"BRL"`, "price": "98.7600",
			"initial_delivery_date": `"2026-03-01"`, "end_delivery_date": `"2026-04-30"`, "modality": `"FUTURO"`,
			"payday": `"2026-05-10"`, "payment_type": `"DINHEIRO"`,
		},
		required: []string{
			"amount", "producer_id", "issuer_id", "product", "delivery_place_id", "haverst", "unit_of_measurement",
			"order_type", "order_date",
			// COMPRA
			"wallet_id", "currency", "price", "initial_delivery_date", "end_delivery_date", "modality", "payday",
			"payment_type",
		},
		texts: []string{
			"producer_id", "issuer_id", "product", "delivery_place_id", "haverst", "unit_of_measurement", "order_type",
			"order_date", "wallet_id",
			"currency", "initial_delivery_date", "end_delivery_date", "modality", "payday", "payment_type",
		},
		numbers: []string{"amount", "price"},
		invalid: map[string][]string{
			"product":             {`"ARROZ"`, `"soja"`, `""`},
			"unit_of_measurement": {`"sc"`, `"T"`},
			"order_type":          {`"VENDA"`, `"compra"`},
			"currency":            {`"ARS"`, `"R$"`},
			"modality":            {`"SPOT"`, `"BALCÃO"`},
			"payment_type":        {`"PIX"`},
			"haverst":             {`"2025"`, `"25/26"`, `"2025/26"`, `"2025-2026"`, `"2025/2026 "`, `""`},
			"order_date": {
				`"28/02/2026"`, `"2026-02-29"`, `"2026-2-8"`, `"2026-02-28T00:00:00Z"`, `""`, `"0000-00-00"`,
			},
			"payday":                {`"2026-02-30"`},
			"initial_delivery_date": {`"x"`, `"2026-13-01"`},
			"end_delivery_date":     {`""`},
			"producer_id": {
				`"1"`, `""`, quote(strings.ReplaceAll(producer, "-", "")),
				quote("{" + producer + "}"), quote("urn:uuid:" + producer),
			},
			"issuer_id":         {`"1"`},
			"delivery_place_id": {`"1"`},
			"wallet_id":         {`"1"`},
		},
	},
	sandbox.ResourceDeliveries: {
		chapter: "2.2", path: "/api/v1/integration/deliveries",
		fields: map[string]string{
			"contract_id": `"CT-1004/26"`, "delivered_volume": "30.50", "delivered_volume_unit_of_measure": `"ton"`,
			"delivery_date": `"2026-03-02"`,
			"car":           `"PR-4106902-0123456789ABCDEF0123456789ABCDEF"`,
		},
		required: []string{"contract_id", "delivered_volume", "delivered_volume_unit_of_measure", "delivery_date"},
		texts:    []string{"contract_id", "delivered_volume_unit_of_measure", "delivery_date", "car"},
		numbers:  []string{"delivered_volume"},
		invalid: map[string][]string{
			"delivered_volume_unit_of_measure": {`"TON"`, `"t"`}, "delivery_date": {`"2026-3-2"`},
			"car": {`"4106902"`, `"PR-x-1"`, `"PR-1"`, `"-1-1"`},
		},
	},
	sandbox.ResourceTraceability: {
		chapter: "2.3", path: "/api/v1/integration/traceability/-/commitments/{commitment}",
		fields: map[string]string{
			"producer_id": quote(producer), "user_id": quote(issuer), "farm_id": quote(someOther),
			"allocated_volume": "12.5", "unit_of_measurement": `"TON"`,
		},
		required: []string{"producer_id", "user_id"},
		texts:    []string{"producer_id", "user_id", "farm_id", "unit_of_measurement"},
		numbers:  []string{"allocated_volume"},
		invalid: map[string][]string{
			"producer_id": {`"1"`}, "user_id": {`"1"`}, "farm_id": {`"1"`},
			"unit_of_measurement": {`"ton"`},
		},
	},
	sandbox.ResourceCreditScore: {
		chapter: "2.5", path: "/api/v1/integration/financial/credit-score",
		fields: map[string]string{
			"name": `"Produtor de Teste"`, "social_id": `"10143486764"`, "reports": `["CREDIT_SCORE"]`,
			"car_list": `["PR-1-A"]`, "sigef_list": `[]`,
		},
		required: []string{"name", "social_id", "reports"},
		texts:    []string{"name", "social_id"},
		lists:    []string{"reports", "car_list", "sigef_list"},
	},
	sandbox.ResourceCreditAnalysis: {
		chapter: "2.6", path: "/api/v1/integration/financial/analysis-credit",
		fields: map[string]string{
			"requester_id": quote(issuer), "requester_name": `"Solicitante"`, "requester_email": `"a@example.org"`,
			"name":     `"Produtor de Teste"`,
			"identity": `"10143486764"`, "auth_type": `"EMAIL"`, "person_type": `"PJ"`, "period_consult": `"12"`,
			"email": `"b@example.org"`,
			"phone": `"+5544999990000"`, "corporate_name": `"Empresa"`, "corporate_identity": `"A1B2C3D4000193"`,
		},
		required: []string{
			"requester_id", "requester_name", "requester_email", "name", "identity", "auth_type", "person_type",
			"period_consult",
		},
		texts: []string{
			"requester_id", "requester_name", "requester_email", "name", "identity", "auth_type", "person_type",
			"period_consult", "email", "phone",
			"corporate_name", "corporate_identity",
		},
		invalid: map[string][]string{"requester_id": {`"1"`}},
	},
	sandbox.ResourceWebhooks: {
		chapter: "2.7", path: webhooks,
		fields: map[string]string{
			"webhook_event": `"CREATE_FARM"`, "url": `"https://receiver.example.org/hook"`,
			"basic_authentication": `"user:word"`, "hmac_secret": `"s"`,
		},
		required: []string{"webhook_event", "url"},
		texts:    []string{"webhook_event", "url", "basic_authentication", "hmac_secret"},
		invalid: map[string][]string{
			"webhook_event": {`"CREATE_CAT"`, `""`, `"create_farm"`},
			"url":           {`"receiver"`, `""`, `"%"`},
		},
	},
}

// row returns the name of a field in the API's document.
func (k kindOf) row(field string) string { return k.chapter + " " + field }

// with returns the fields as JSON, with changes; a change to "" removes the field.
func (k kindOf) with(changes ...string) string {
	f := maps.Clone(k.fields)
	for i := 0; i < len(changes); i += 2 {
		f[changes[i]] = changes[i+1]
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if f[name] != "" {
			parts = append(parts, quote(name)+":"+f[name])
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// posts sends a body to the creating endpoint of the resource, with an order commitment of its own
// where the path needs one.
func (b *box) creates(resource, sent string) got {
	b.t.Helper()
	path := creations[resource].path
	if strings.Contains(path, "{commitment}") {
		if len(b.Created()) == 0 && b.post(body()).status != 201 {
			b.t.Fatal("no order commitment")
		}
		path = strings.ReplaceAll(path, "{commitment}", b.Created()[0].ID)
	}
	return b.send(b.request("POST", path, sent))
}

// wantMade fails the test unless there are n records of the resource.
func (b *box) wantMade(resource string, n int) []sandbox.Record {
	b.t.Helper()
	records := b.CreatedOf(resource)
	if len(records) != n {
		b.t.Errorf("%d records of %s, want %d", len(records), resource, n)
	}
	return records
}

// wantRemarks fails the test unless the newest request has these remarks.
func (b *box) wantRemarks(want ...string) {
	b.t.Helper()
	requests := b.Report().Requests
	var have []string
	for _, r := range requests[len(requests)-1].Remarks {
		have = append(have, r.Code+" "+r.Field)
	}
	slices.Sort(have)
	slices.Sort(want)
	if !slices.Equal(have, want) {
		b.t.Errorf("remarks = %q, want %q", have, want)
	}
}

func forEachCreation(t *testing.T, f func(t *testing.T, resource string, k kindOf)) {
	t.Helper()
	for resource, k := range creations {
		t.Run(resource, func(t *testing.T) {
			t.Parallel()
			f(t, resource, k)
		})
	}
}
