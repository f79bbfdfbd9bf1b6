package apiclient_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// read asks each of the readers for body; the keys name the type and its chapter.
func read(t *testing.T, body string) map[string]any {
	t.Helper()
	s := startRaw(t, always(200, body))
	c := s.client(t)
	ctx := context.Background()
	got := map[string]any{}
	keep := func(name string, v any, err error) {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got[name] = v
	}
	d, err := apiclient.ReadRecord(trade.Deliveries, []byte(body))
	keep("2.2 delivery", d, err)
	consent, err := c.GetConsent(ctx, apiclient.ConsentQuery{Identity: testCPF, PersonType: apiclient.PF})
	keep("2.4 consent", consent, err)
	analysis, err := c.GetCreditAnalysis(ctx, testID)
	keep("2.6 analysis", analysis, err)
	hook, err := c.GetWebhook(ctx, "CREATE_FARM")
	keep("2.7 webhook", hook, err)
	producer, err := c.GetProducerByDocument(ctx, testCPF)
	keep("producer", producer, err)
	return got
}

func TestRecordsAreReadWithTheFieldsOfTheDocument(t *testing.T) {
	t.Parallel()
	body := `{"id":"` + strings.ToUpper(testID) +
		`","contract_id":17,"delivered_volume":"1250.50","delivered_volume_unit_of_measure":{"code":"sc"},` +
		`"delivery_date":"2026-11-20T00:00:00-03:00","car":"c","status":"S","consent_date":"2026-11-20T10:00:00Z","requester_id":"r","requester_name":"rn",` +
		`"requester_email":"re","name":"n","identity":12345678909,"auth_type":"EMAIL","person_type":"PF","period_consult":12,"email":"e","phone":5565,` +
		`"corporate_name":"cn","corporate_identity":"ci","webhook_event":"CREATE_FARM","url":"u","basic_authentication":null,"unknown":{"x":[1]},"unknown":2}`
	r := json.RawMessage(body)
	want := map[string]any{
		"2.2 delivery": apiclient.ReadBack{
			ID: testID, Received: apiclient.Received{Raw: r}, Fields: map[string]string{
				"contract_id": "17", "delivered_volume": "1250.50", "delivered_volume_unit_of_measure": "sc",
				"delivery_date": "2026-11-20", "car": "c",
			},
		},
		"2.4 consent": apiclient.Consent{
			Status: "S", ConsentDate: "2026-11-20T10:00:00Z", Received: apiclient.Received{Raw: r},
		},
		"2.6 analysis": apiclient.CreditAnalysis{
			ID: testID, RequesterID: "r", RequesterName: "rn", RequesterEmail: "re", Name: "n", Identity: testCPF,
			AuthType:   apiclient.AuthEmail,
			PersonType: apiclient.PF, PeriodConsult: "12", Email: "e", Phone: "5565", CorporateName: "cn",
			CorporateIdentity: "ci", Received: apiclient.Received{Raw: r},
		},
		"2.7 webhook": apiclient.Webhook{ID: testID, WebhookEvent: "CREATE_FARM", URL: "u", Received: apiclient.Received{Raw: r}},
		"producer":    apiclient.Producer{ID: testID, Name: "n", Received: apiclient.Received{Raw: r}},
	}
	if d := cmp.Diff(want, read(t, body)); d != "" {
		t.Errorf("records (-want +got):\n%s", d)
	}
}

func TestNoFieldInAnUnknownShapeIsAnError(t *testing.T) {
	t.Parallel()
	fields := []string{
		"id", "contract_id", "delivered_volume", "delivered_volume_unit_of_measure", "delivery_date", "car", "status",
		"consent_date", "requester_id",
		"name", "identity", "period_consult", "phone", "webhook_event", "url", "basic_authentication", "hmac_secret",
		"producer_id",
	}
	for _, shape := range []string{`true`, `[]`, `{"a":1}`, `1.5e3`, `null`} {
		members := make([]string, 0, len(fields))
		for _, f := range fields {
			members = append(members, `"`+f+`":`+shape)
		}
		body := "\xef\xbb\xbf {" + strings.Join(members, ",") + "}\n"
		for name, v := range read(t, body) {
			var seen struct{ Unread []string }
			j := must.Get(json.Marshal(v))(t)
			must.Do(t, json.Unmarshal(j, &seen))
			if (shape == `null`) != (len(seen.Unread) == 0) {
				t.Errorf("%s with %s: Unread = %v", name, shape, seen.Unread)
			}
		}
	}
}

func TestALookupThatAnswersWithAListOfOneIsRead(t *testing.T) {
	t.Parallel()
	s := startRaw(t, always(200, ` [ {"producer_id":"`+testID+`","webhook_event":"CREATE_FARM"} ] `))
	c := s.client(t)
	p, err := c.GetProducerByDocument(context.Background(), testCPF)
	if err != nil || p.ID != testID {
		t.Errorf("GetProducerByDocument = %+v, %v", p, err)
	}
	w, err := c.GetWebhook(context.Background(), "CREATE_FARM")
	if err != nil || w.WebhookEvent != "CREATE_FARM" {
		t.Errorf("GetWebhook = %+v, %v", w, err)
	}
}
