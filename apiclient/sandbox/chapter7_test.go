package sandbox_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/apidoc"
	"github.com/safrasync/safrasync/internal/must"
)

func TestChapter7_FormatA_IsAnObjectWithAListOfKeys(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "7 format a", "7 status 400 validation")
	b := start(t, sandbox.Options{})
	for sent, want := range map[string]string{
		body("wallet_id", "", "product", `"soja"`, "order_date", `"28/02/2026"`): messages("message.product.invalid",
			"message.order_date.invalid", "message.wallet_id.mandatory"),
		// a wrong order type asks for nothing more
		body("order_type", `"VENDA"`, "price", ""): messages("message.order_type.invalid"),
	} {
		if g := b.post(sent); g.status != 400 || g.body != want {
			t.Errorf("%s = %d %s, want %s", sent, g.status, g.body, want)
		}
	}
}

func TestChapter7_FormatB_EveryPathIDThatIsNoUUID(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "7 format b")
	at := time.Date(2026, 2, 28, 12, 0, 0, 0, time.UTC)
	b := start(t, sandbox.Options{Now: func() time.Time { return at }})
	tests := []struct{ method, path, parameter string }{
		{"GET", orders + "/x", "order_commitment_id"},
		{"GET", orders + "/%2e%2e%2Fx", "order_commitment_id"},
		{"GET", orders + "/" + strings.ReplaceAll(someOther, "-", ""), "order_commitment_id"},
		{"POST", "/api/v1/integration/traceability/-/commitments/x", "order_commitment_id"},
		{"GET", analysis + "/x", "id"},
		{"DELETE", webhooks + "/x", "id"},
	}
	for _, test := range tests {
		want := `{"timestamp":"2026-02-28T12:00:00Z","status":400,"error":"Bad Request","message":"message.` +
			test.parameter + `.invalid"}`
		if g := b.call(test.method, test.path, ""); g.status != 400 || g.body != want {
			t.Errorf("%s %s = %d %s", test.method, test.path, g.status, g.body)
		}
	}
}

func TestChapter7_FormatC_IsTextOrAJSONString(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "7 format c")
	b := start(t, sandbox.Options{})
	tests := map[string]string{
		"PATCH " + orders: "Request method 'PATCH' is not supported",
		"GET " + consent + "?identity=10143486764&personType=X\"": `Unexpected value: X"`,
	}
	for call, want := range tests {
		method, path, _ := strings.Cut(call, " ")
		req := b.request(method, path, "")
		if g := b.send(req); g.body != want || !strings.HasPrefix(g.header.Get("Content-Type"), "text/plain") {
			t.Errorf("%s = %s", call, g.body)
		}
		req.Header.Set("Accept", "application/json")
		var text string
		if g := b.send(req); json.Unmarshal([]byte(g.body), &text) != nil || text != want ||
			g.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s as JSON = %s", call, g.body)
		}
	}
}

func TestChapter7_FormatD_TheBodyOfAServiceBehindIsPassedThrough(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "7 format d", "7 status other")
	for _, raw := range []string{`{"detail":"limit"}`, `["limit"]`, `{"messages":["limit"]}`} {
		b := start(t, sandbox.Options{}, "credit_score:status=422,body="+raw)
		if g := b.creates(sandbox.ResourceCreditScore,
			creations[sandbox.ResourceCreditScore].with()); g.status != 422 || g.body != raw {
			t.Errorf("POST = %d %s", g.status, g.body)
		}
	}
}

func TestChapter7_400_MalformedForEveryBody(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "7 status 400 malformed")
	forEachCreation(t, func(t *testing.T, resource string, k kindOf) {
		b := start(t, sandbox.Options{})
		for _, sent := range []string{
			"{", "[]", `"x"`, "null", k.with() + "x", "\xff", "[" + k.with() + "]", k.with() + k.with(),
			"\ufeff" + k.with(), k.with("x", "\"SOJ\xff\""), k.with("x", "1,5"), k.with("x", "NaN"),
			k.with("x", strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000)),
		} {
			if g := b.creates(resource, sent); g.status != 400 || g.body != messages("message.malformed-request") {
				t.Errorf("%.99q = %d %s", sent, g.status, g.body)
			}
		}
		b.wantMade(resource, 0)
		if g := b.creates(resource, " \n"+k.with()+"\n "); g.status != 201 {
			t.Errorf("with blanks around it = %d %s", g.status, g.body)
		}
	})
}

func TestChapter7_403_AnUnknownPersonTypeIsNamed(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "7 status 403 enumeration")
	b := start(t, sandbox.Options{})
	for _, value := range []string{"PX", "pf", ""} {
		g := b.creates(sandbox.ResourceCreditAnalysis,
			creations[sandbox.ResourceCreditAnalysis].with("person_type", quote(value), "name", ""))
		if g.status != 403 || g.body != "Unexpected value: "+value {
			t.Errorf("%q = %d %s", value, g.status, g.body)
		}
	}
	b.wantMade(sandbox.ResourceCreditAnalysis, 0)
}

func TestChapter7_405_NamesTheVerbOnEveryPath(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "7 status 405")
	b := start(t, sandbox.Options{})
	for path, verbs := range map[string]string{
		orders: "GET PUT DELETE PATCH OPTIONS", orders + "/" + someOther: "POST PUT DELETE",
		"/api/v1/integration/deliveries":                              "GET PUT DELETE",
		"/api/v1/integration/traceability/-/commitments/" + someOther: "GET PUT DELETE", consent: "POST PUT DELETE",
		"/api/v1/integration/financial/credit-score": "GET PUT DELETE", analysis: "GET PUT DELETE",
		analysis + "/" + someOther: "POST PUT DELETE",
		webhooks:                   "DELETE PATCH", byEvent + "CREATE_FARM": "POST PUT DELETE",
		webhooks + "/" + someOther: "GET POST PUT",
		lookup + "10143486764":     "POST PUT DELETE", owner + someOther: "GET POST PUT",
	} {
		for verb := range strings.FieldsSeq(verbs) {
			req, text := b.request(verb, path, ""), "Request method '"+verb+"' is not supported"
			if g := b.send(req); g.status != 405 || g.body != text ||
				!strings.HasPrefix(g.header.Get("Content-Type"), "text/plain") {
				t.Errorf("%s %s = %d %s", verb, path, g.status, g.body)
			}
			req.Header.Set("Accept", "application/json")
			if g := b.send(req); g.status != 405 || g.body != quote(text) ||
				g.header.Get("Content-Type") != "application/json" {
				t.Errorf("%s %s for JSON = %d %s", verb, path, g.status, g.body)
			}
		}
	}
	if g := b.send(b.request("HEAD", webhooks, "")); g.status != 405 || g.header.Get("Allow") != "GET, POST, PUT" {
		t.Errorf("HEAD = %d, Allow %q", g.status, g.header.Get("Allow"))
	}
}

func TestChapter7_415_IsEmptyAlsoOnADeleteWithoutABody(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "7 status 415")
	b := start(t, sandbox.Options{})
	id := b.register("CREATE_FARM", "https://one.example.org/")
	for call, sent := range map[string]string{
		"DELETE " + webhooks + "/" + id: "", "DELETE " + owner + someOther: "", "PUT " + webhooks: "{}",
		"POST " + webhooks: "{}",
		"POST " + orders:   body(), "POST " + analysis: "", "POST " + creations[sandbox.ResourceDeliveries].path: "{}",
		"POST " + creations[sandbox.ResourceCreditScore].path:              "{}",
		"POST /api/v1/integration/traceability/-/commitments/" + someOther: "{}",
	} {
		method, path, _ := strings.Cut(call, " ")
		req := b.request(method, path, sent)
		req.Header.Del("Content-Type")
		if g := b.send(req); g.status != 415 || g.body != "" {
			t.Errorf("%s = %d %s", call, g.status, g.body)
		}
	}
	if len(b.Webhooks()) != 1 || len(b.CreatedOf()) != 1 {
		t.Error("a request without Content-Type was executed")
	}
}

func TestChapter7_StatusesThatOnlyAFaultBrings(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		spec   string
		status int
		body   string
	}{
		"7 status 400 duplicate": {"duplicate", 400, messages("message.duplicate.key")},
		"7 status 409":           {"status=409", 409, ""},
		"7 status 500":           {"status=500", 500, messages("message.internal.error")},
		"7 status 502":           {"refused", 502, messages("message.integration.connection.refused")},
		"7 key message.producer.already-exists": {
			`status=400,body={"messages":["message.producer.already-exists"]}`, 400,
			messages("message.producer.already-exists"),
		},
	}
	for row, test := range tests {
		spec := test.spec
		apidoc.Run(t, apidoc.Sandbox, row, func(t *testing.T) {
			t.Parallel()
			forEachCreation(t, func(t *testing.T, resource string, k kindOf) {
				b := start(t, sandbox.Options{})
				if resource == sandbox.ResourceTraceability {
					b.post(body())
				}
				f := must.Get(sandbox.ParseFault(resource + ":" + spec))(t)
				b.SetFaults(f)
				g := b.creates(resource, k.with())
				if g.status != test.status || test.body != "" && g.body != test.body ||
					!strings.HasPrefix(g.body, `{"messages":[`) {
					t.Errorf("%s = %d %s", spec, g.status, g.body)
				}
				b.wantMade(resource, 0)
			})
		})
	}
}

func TestChapter7_MessageKeys(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{})
	score := creations[sandbox.ResourceCreditScore]
	tests := []struct {
		key    string
		status int
		change func()
		call   func() got
	}{
		{
			"message.wallet.not-found", 404,
			func() { b.Forget(sandbox.Wallets, wallet) }, func() got { return b.post(body()) },
		},
		{
			"message.wallet.producer-not-linked", 400,
			func() { b.Know(sandbox.Wallets, wallet); b.UnlinkWallet(wallet, producer) },
			func() got { return b.post(body()) },
		},
		{
			"message.producer.not-found", 404,
			func() { b.Forget(sandbox.Producers, producer) }, func() got { return b.post(body()) },
		},
		{"message.delivery-place.not-found", 404, func() {
			b.Know(sandbox.Producers, producer)
			b.LinkWallet(wallet, producer)
			b.Forget(sandbox.DeliveryPlaces, place)
		}, func() got { return b.post(body()) }},
		{
			"message.name.mandatory", 400, func() {},
			func() got { return b.creates(sandbox.ResourceCreditScore, score.with("name", "")) },
		},
		{
			"message.module.not-contracted", 403,
			func() { b.SetNotContracted(sandbox.Commercial) }, func() got { return b.post(body()) },
		},
	}
	for _, test := range tests {
		apidoc.Run(t, apidoc.Sandbox, "7 key "+test.key, func(t *testing.T) {
			test.change()
			if g := test.call(); g.status != test.status || g.body != messages(test.key) {
				t.Errorf("%d %s, want %d %s", g.status, g.body, test.status, test.key)
			}
		})
	}
}

func TestChapter8_LimitsInCharacters(t *testing.T) {
	t.Parallel()
	k := creations[sandbox.ResourceWebhooks]
	url := func(n int) string { return quote("https://" + strings.Repeat("ç", n-len("https://"))) }
	tests := []struct {
		name, field, value string
		tooLong            bool
	}{
		{"url 250", "url", url(250), false},
		{"url 251", "url", url(251), true},
		{"hmac_secret 120", "hmac_secret", quote(strings.Repeat("ç", 120)), false},
		{"hmac_secret 121", "hmac_secret", quote(strings.Repeat("ç", 121)), true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			apidoc.Covers(t, apidoc.Sandbox, "8 "+test.field+" length", "7 known 500 "+test.field)
			b := start(t, sandbox.Options{})
			sent := k.with(test.field, test.value)
			if g := b.creates(sandbox.ResourceWebhooks, sent); test.tooLong != (g.status == 500) || test.tooLong &&
				g.body != messages("message.internal.error") {
				t.Errorf("POST = %d %s", g.status, g.body)
			}
			b.wantMade(sandbox.ResourceWebhooks, map[bool]int{false: 1}[test.tooLong])
			before := b.Webhooks()
			if len(before) == 0 {
				b.register("CREATE_FARM", "https://one.example.org/")
			}
			if g := b.call("PUT", webhooks, sent); test.tooLong != (g.status == 500) || !test.tooLong &&
				g.status != 204 {
				t.Errorf("PUT = %d %s", g.status, g.body)
			}
			if w := b.Webhooks()[0]; test.tooLong && w.URL != "https://one.example.org/" {
				t.Errorf("webhook = %+v", w)
			}
		})
	}
}
