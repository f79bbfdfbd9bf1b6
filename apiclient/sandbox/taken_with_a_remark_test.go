package sandbox_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/i18n"
)

func TestWhatTheDocumentDoesNotRefuseIsTakenWithARemark(t *testing.T) {
	t.Parallel()
	delivery, score := creations[sandbox.ResourceDeliveries], creations[sandbox.ResourceCreditScore]
	credit, hook := creations[sandbox.ResourceCreditAnalysis], creations[sandbox.ResourceWebhooks]
	long := strings.Repeat("n", 100)
	tests := []struct {
		name, resource, sent string
		remarks              []string
	}{
		{"an unknown member", "order_commitments", body("harvest", `"2025/2026"`), []string{"unknown_member harvest"}},
		{"a long unknown member", "order_commitments", body(long, "{}"), []string{"unknown_member " + long[:60]}},
		{"a member of another case", "order_commitments", body("Amount", "1"), []string{"unknown_member Amount"}},
		{
			"null for an optional field", "order_commitments", body("order_type", `"A_FIXAR"`, "payday", "null"),
			[]string{"null payday"},
		},
		{"a negative amount", "order_commitments", body("amount", "-1"), []string{"not_positive amount"}},
		{"a price of zero", "order_commitments", body("price", "0.00"), []string{"not_positive price"}},
		{"an exponent", "order_commitments", body("amount", "1e3"), []string{"exponent amount"}},
		{
			"an end before the beginning", "order_commitments", body("end_delivery_date", `"2026-02-01"`),
			[]string{"date_order end_delivery_date"},
		},
		{"nothing odd", "order_commitments", body(), nil},
		{
			"an empty contract", "deliveries", delivery.with("contract_id", `""`),
			[]string{"contract_unknown_here contract_id", "empty contract_id"},
		},
		{
			"another kind of state code", "deliveries", delivery.with("car", `"41-4106902-A1"`),
			[]string{"contract_unknown_here contract_id", "other_value car"},
		},
		{"no document", "credit_score", score.with("social_id", `"123"`), []string{"document social_id"}},
		{"an empty name", "credit_score", score.with("name", `" "`), []string{"empty name"}},
		{"no report", "credit_score", score.with("reports", "[]"), []string{"empty reports"}},
		{
			"another report", "credit_score", score.with("reports", `["CREDIT_SCORE","OTHER"]`),
			[]string{"other_value reports"},
		},
		{"another auth_type", "credit_analysis", credit.with("auth_type", `"SMS"`), []string{"other_value auth_type"}},
		{
			"credentials without a colon", "webhooks", hook.with("basic_authentication", `"ana"`),
			[]string{"credentials_form basic_authentication"},
		},
		{"an id in a registration", "webhooks", hook.with("id", quote(someOther)), []string{"unknown_member id"}},
		{"another scheme", "webhooks", hook.with("url", `"ftp://receiver.example.org"`), []string{"url_scheme url"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := start(t, sandbox.Options{})
			if g := b.creates(test.resource, test.sent); g.status != 201 {
				t.Errorf("POST = %d %s", g.status, g.body)
			}
			b.wantRemarks(test.remarks...)
			b.wantMade(test.resource, 1)
		})
	}
}

func TestTheLastOfTwoMembersCounts(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{})
	b.post(strings.Replace(body(), "{", `{"amount":1,`, 1))
	if got := b.wantCreated(1)[0].Fields["amount"]; got != json.Number("1234.50") {
		t.Errorf("amount = %v", got)
	}
}

func TestOddHeadersAndQueriesAreRemarkedOn(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		header http.Header
		query  string
		want   string
	}{
		"a scheme": {http.Header{"Authorization": {"Bearer x"}}, "", "key_blank Authorization"},
		"two keys": {http.Header{"Authorization": {key, "x"}}, "", "header_twice Authorization"},
		"two types": {
			http.Header{"Content-Type": {"application/json", "text/plain"}},
			"",
			"header_twice Content-Type",
		},
		"another character set": {
			http.Header{"Content-Type": {"application/json; charset=iso-8859-1"}},
			"",
			"content_type application/json",
		},
		"a broken parameter": {
			http.Header{"Content-Type": {"application/json; charset"}},
			"",
			"content_type application/json",
		},
		"an encoding":              {http.Header{"Content-Encoding": {"identity"}}, "", "compressed Content-Encoding"},
		"an Idempotency-Key":       {http.Header{"Idempotency-Key": {"1"}}, "", "idempotency_key Idempotency-Key"},
		"an unknown parameter":     {nil, "?dry_run=true", "unknown_parameter dry_run"},
		"UTF-8 in another writing": {http.Header{"Content-Type": {`Application/JSON;  Charset="UTF-8"`}}, "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, sandbox.Options{})
			b.SetAPIKey("")
			req := b.request("POST", orders+test.query, body())
			for name, values := range test.header {
				req.Header[name] = values
			}
			if g := b.send(req); g.status != 201 {
				t.Errorf("POST = %d %s", g.status, g.body)
			}
			if test.want == "" {
				b.wantRemarks()
			} else {
				b.wantRemarks(test.want)
			}
		})
	}
}

func TestARefusedRequestIsRemarkedOnToo(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{})
	b.post(body("haverst", "", "harvest", `"2025/2026"`)) // the typical mistake
	b.wantRemarks("unknown_member harvest")
	b.post(body("haverst", "", "harvest", `"2025/2026"`))
	if got := b.Report().Remarks; len(got) != 1 || got[0].Count != 2 {
		t.Errorf("remarks = %+v", got)
	}
}

func TestEveryRemarkHasWordsInBothLanguages(t *testing.T) {
	t.Parallel()
	codes := i18n.Sandbox.Names("remark.")
	if len(codes) != 20 {
		t.Errorf("%d codes", len(codes))
	}
}
