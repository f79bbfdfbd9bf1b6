package sandbox_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/apidoc"
	"github.com/safrasync/safrasync/internal/must"
)

const (
	consent  = "/api/v1/integration/financial/analysis-credit/consent"
	analysis = "/api/v1/integration/financial/analysis-credit"
	byEvent  = webhooks + "/-/events/"
	lookup   = "/api/v1/integration/producers/-/documents/"
	owner    = "/api/v1/integration/owner-details/"
)

// request of JSON, also without a body.
func (b *box) call(method, path, sent string) got {
	b.t.Helper()
	req := b.request(method, path, sent)
	req.Header.Set("Content-Type", "application/json")
	return b.send(req)
}

func (b *box) register(event, url string) string {
	b.t.Helper()
	g := b.call("POST", webhooks, `{"webhook_event":"`+event+`","url":"`+url+`"}`)
	var w struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(g.body), &w); err != nil || g.status != 201 {
		b.t.Fatalf("register %s: %d %s", event, g.status, g.body)
	}
	return w.ID
}

func TestChapter4_Endpoints1And2_AnOrderCommitmentIsMadeAndRead(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "4 endpoint 1", "4 endpoint 2", "2.1 retrieval", "7 status 404")
	b := start(t, sandbox.Options{})
	if g := b.get(orders + "/" + someOther); g.status != 404 ||
		g.body != messages("message.order-commitment.not-found") {
		t.Errorf("unknown id = %d %s", g.status, g.body)
	}
	made := b.post(body())
	if g := b.get(orders + "/" + b.wantCreated(1)[0].ID); g.status != 200 || g.body != made.body {
		t.Errorf("GET = %d %s, want %s", g.status, g.body, made.body)
	}
}

func TestChapter4_Endpoint3_ADeliveryNeedsAKnownContract(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "4 endpoint 3", "1 delivery")
	k := creations[sandbox.ResourceDeliveries]
	closed := sandbox.NewWorld()
	b := start(t, sandbox.Options{World: closed})
	if g := b.creates(sandbox.ResourceDeliveries, k.with("contract_id", quote(someOther))); g.status != 404 ||
		g.body != messages("message.contract.not-found") {
		t.Errorf("unknown id = %d %s", g.status, g.body)
	}
	// A number of the cooperative's own may be known to the platform nevertheless.
	if g := b.creates(sandbox.ResourceDeliveries, k.with()); g.status != 201 {
		t.Errorf("own number = %d %s", g.status, g.body)
	}
	b.wantRemarks("contract_unknown_here contract_id")
	closed.Know(sandbox.Contracts, "CT-1")
	for contract, status := range map[string]int{"CT-1": 201, "CT-2": 404} { // now the world has a list of contracts
		if g := b.creates(sandbox.ResourceDeliveries, k.with("contract_id", quote(contract))); g.status != status {
			t.Errorf("%s = %d %s", contract, g.status, g.body)
		}
	}

	b = start(t, sandbox.Options{})
	b.post(body())
	g := b.creates(sandbox.ResourceDeliveries, k.with("contract_id", quote(strings.ToUpper(b.wantCreated(1)[0].ID))))
	if g.status != 201 {
		t.Errorf("id of an order commitment = %d %s", g.status, g.body)
	}
	b.wantRemarks()
}

func TestChapter4_Endpoint4_TraceabilityNeedsAnOrderCommitment(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "4 endpoint 4", "1 traceability")
	b := start(t, sandbox.Options{})
	k := creations[sandbox.ResourceTraceability]
	at := func(id string) string { return strings.ReplaceAll(k.path, "{commitment}", id) }
	if g := b.call("POST", at(someOther), k.with()); g.status != 404 ||
		g.body != messages("message.order-commitment.not-found") {
		t.Errorf("unknown commitment = %d %s", g.status, g.body)
	}
	if g := b.call("POST", at("x"), k.with()); g.status != 400 ||
		!strings.Contains(g.body, `"message":"message.order_commitment_id.invalid"`) {
		t.Errorf("no UUID = %d %s", g.status, g.body)
	}
	if g := b.creates(sandbox.ResourceTraceability, k.with()); g.status != 201 {
		t.Errorf("POST = %d %s", g.status, g.body)
	}
	if got, want := b.wantMade(sandbox.ResourceTraceability, 1)[0].Params["order_commitment_id"],
		b.wantCreated(1)[0].ID; got != want {
		t.Errorf("commitment of the record = %q, want %q", got, want)
	}
	for kind, key := range map[sandbox.RegistrationKind]string{
		sandbox.Producers: "producer", sandbox.Users: "user",
		sandbox.Farms: "farm",
	} {
		id := map[sandbox.RegistrationKind]string{
			sandbox.Producers: producer, sandbox.Users: issuer,
			sandbox.Farms: someOther,
		}[kind]
		b.Forget(kind, id)
		if g := b.creates(sandbox.ResourceTraceability, k.with()); g.status != 404 ||
			g.body != messages("message."+key+".not-found") {
			t.Errorf("unknown %s = %d %s", key, g.status, g.body)
		}
		b.Know(kind, id)
	}
}

func TestChapter4_Endpoint5_ConsentIsLookedUpByDocument(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "4 endpoint 5", "7 status 403 enumeration")
	w := must.Get(sandbox.LoadWorld(worldFile))(t)
	b := start(t, sandbox.Options{World: w})
	tests := []struct {
		query  string
		status int
		body   string // "" is not checked
	}{
		{"identity=10143486764&personType=PF", 200, ""},
		{"identity=101.434.867-64&personType=PF", 200, ""},
		{"identity=a1b2c3d4000193&personType=PJ", 200, ""},
		{"identity=10143486764&personType=PF&corporateIdentity=11079190000109", 200, ""},
		{"identity=12242250663&personType=PF", 404, messages("message.producer.not-found")}, // known elsewhere
		{"identity=00000000000&personType=PF", 404, messages("message.producer.not-found")},
		{"identity=&personType=PF", 404, messages("message.producer.not-found")},
		{"personType=PF", 400, messages("message.identity.mandatory")},
		{"identity=10143486764", 400, messages("message.persontype.mandatory")},
		{"", 400, messages("message.identity.mandatory", "message.persontype.mandatory")},
		{"identity=10143486764&personType=pf", 403, "Unexpected value: pf"},
		{"identity=10143486764&personType=", 403, "Unexpected value: "},
	}
	for _, test := range tests {
		g := b.get(consent + "?" + test.query)
		if g.status != test.status || test.body != "" && g.body != test.body {
			t.Errorf("%s = %d %s, want %d %s", test.query, g.status, g.body, test.status, test.body)
		}
	}
}

func TestChapter4_Endpoint6_ACreditScoreIsAskedForAndCannotBeReadByPath(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "4 endpoint 6")
	b := start(t, sandbox.Options{World: sandbox.NewWorld()}) // the document names no prerequisite
	k := creations[sandbox.ResourceCreditScore]
	if g := b.creates(sandbox.ResourceCreditScore, k.with()); g.status != 201 {
		t.Errorf("POST = %d %s", g.status, g.body)
	}
	if g := b.get(k.path); g.status != 405 {
		t.Errorf("GET = %d", g.status)
	}
	if g := b.get(k.path + "/" + b.wantMade(sandbox.ResourceCreditScore, 1)[0].ID); g.status != 404 ||
		strings.Contains(g.body, "messages") {
		t.Errorf("GET by path = %d %s", g.status, g.body)
	}
}

func TestChapter4_Endpoints7And8_AnAnalysisIsMadeAndRead(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "4 endpoint 7", "4 endpoint 8")
	b := start(t, sandbox.Options{})
	made := b.creates(sandbox.ResourceCreditAnalysis, creations[sandbox.ResourceCreditAnalysis].with())
	id := b.wantMade(sandbox.ResourceCreditAnalysis, 1)[0].ID
	if g := b.get(analysis + "/" + id); g.status != 200 || g.body != made.body {
		t.Errorf("GET = %d %s, want %s", g.status, g.body, made.body)
	}
	if g := b.get(analysis + "/" + someOther); g.status != 404 ||
		g.body != messages("message.analysis-credit.not-found") {
		t.Errorf("unknown = %d %s", g.status, g.body)
	}
	if g := b.get(orders + "/" + id); g.status != 404 {
		t.Errorf("as an order commitment = %d", g.status)
	}
}

func TestChapter4_Endpoints9To13_TheLifeOfAWebhook(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "4 endpoint 9", "4 endpoint 10", "4 endpoint 11", "4 endpoint 12", "4 endpoint 13",
		"4 PUT webhooks 404", "2.7 id", "7 listing")
	b := start(t, sandbox.Options{})
	if g := b.get(webhooks); g.status != 200 || g.body != "[]" {
		t.Errorf("empty list = %d %s", g.status, g.body)
	}
	if g := b.get(byEvent + "CREATE_FARM"); g.status != 404 || g.body != messages("message.webhook.not-found") {
		t.Errorf("no webhook = %d %s", g.status, g.body)
	}
	if g := b.get(byEvent + "CREATE_CAT"); g.status != 404 {
		t.Errorf("no event = %d %s", g.status, g.body)
	}
	id := b.register("CREATE_FARM", "https://one.example.org/")
	shown := func(url string) string {
		return `{"id":"` + id + `","webhook_event":"CREATE_FARM","url":"` + url + `"}`
	}
	if g := b.get(webhooks); g.body != "["+shown("https://one.example.org/")+"]" {
		t.Errorf("list = %s", g.body)
	}
	if g := b.call("PUT", webhooks,
		`{"webhook_event":"CREATE_FARM","url":"https://two.example.org/"}`); g.status != 204 || g.body != "" {
		t.Errorf("PUT = %d %s", g.status, g.body)
	}
	if g := b.get(byEvent + "CREATE_FARM"); g.status != 200 || g.body != shown("https://two.example.org/") {
		t.Errorf("by event = %d %s", g.status, g.body)
	}
	if g := b.call("PUT", webhooks,
		`{"webhook_event":"DELETE_FARM","url":"https://two.example.org/"}`); g.status != 404 {
		t.Errorf("PUT without a registration = %d %s", g.status, g.body)
	}
	if g := b.call("DELETE", webhooks+"/"+strings.ToUpper(id), ""); g.status != 204 || g.body != "" {
		t.Errorf("DELETE = %d %s", g.status, g.body)
	}
	if g := b.call("DELETE", webhooks+"/"+id, ""); g.status != 404 || g.body != messages("message.webhook.not-found") {
		t.Errorf("DELETE again = %d %s", g.status, g.body)
	}
	if g := b.call("DELETE", webhooks+"/x", ""); g.status != 400 ||
		!strings.Contains(g.body, `"message":"message.id.invalid"`) {
		t.Errorf("DELETE of no UUID = %d %s", g.status, g.body)
	}
	if g := b.get(webhooks); g.body != "[]" {
		t.Errorf("list in the end = %s", g.body)
	}
}

func TestChapter4_Endpoint12_ItsBadRequestHasABodyOfItsOwn(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "4 PUT webhooks 400")
	at := time.Date(2026, 2, 28, 12, 0, 0, 0, time.UTC)
	b := start(t, sandbox.Options{Now: func() time.Time { return at }})
	for _, sent := range []string{
		"", "{", "{}", `{"webhook_event":"CREATE_CAT","url":"https://x.example.org"}`,
		`{"webhook_event":5,"url":"https://x.example.org"}`,
	} {
		g := b.call("PUT", webhooks, sent)
		if diff := cmp.Diff(`{"timestamp":"2026-02-28T12:00:00Z","status":400,"error":"Bad Request"}`,
			g.body); diff != "" || g.status != 400 {
			t.Errorf("%q = %d (-want +got):\n%s", sent, g.status, diff)
		}
	}
}

func TestASecondWebhookForAnEventIsTakenAndTheNewestIsMeant(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{})
	one := b.register("CREATE_FARM", "https://one.example.org/")
	two := b.register("CREATE_FARM", "https://two.example.org/")
	b.wantRemarks("event_again CREATE_FARM")
	b.call("PUT", webhooks, `{"webhook_event":"CREATE_FARM","url":"https://three.example.org/"}`)
	if got := b.Webhooks(); len(got) != 2 || got[0].ID != one || got[0].URL != "https://one.example.org/" ||
		got[1].URL != "https://three.example.org/" {
		t.Errorf("webhooks = %+v", got)
	}
	if g := b.get(byEvent + "CREATE_FARM"); !strings.Contains(g.body, two) {
		t.Errorf("by event = %s, want %s", g.body, two)
	}
}

func TestChapter4_TheProducerLookup(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "4 endpoint producers by document")
	w := must.Get(sandbox.LoadWorld(worldFile))(t)
	b := start(t, sandbox.Options{World: w})
	for _, document := range []string{"10143486764", "101.434.867-64"} {
		if g := b.get(lookup + document); g.status != 200 ||
			g.body != `{"id":"`+worldProducer+`","social_identity":"10143486764"}` {
			t.Errorf("%s = %d %s", document, g.status, g.body)
		}
	}
	if g := b.get(lookup + "11.079.190%2F0001-09"); g.status != 200 {
		t.Errorf("a CNPJ with its slash = %d %s", g.status, g.body)
	}
	for _, document := range []string{"12242250663", "00000000000", "x"} {
		if g := b.get(lookup + document); g.status != 404 || g.body != messages("message.producer.not-found") {
			t.Errorf("%s = %d %s", document, g.status, g.body)
		}
	}
	w.KnowProducer(someOther, "000.000.000-00")
	if g := b.get(lookup + "00000000000"); g.status != 200 || !strings.Contains(g.body, someOther) {
		t.Errorf("a new producer = %d %s", g.status, g.body)
	}

	b = start(t, sandbox.Options{}) // every well-formed document exists
	one, again, other := b.get(lookup+"A1B2C3D4000193"), b.get(lookup+"a1b2c3d4000193"), b.get(lookup+"10143486764")
	if one.status != 200 || one.body != again.body || one.body == other.body {
		t.Errorf("open world: %s, %s, %s", one.body, again.body, other.body)
	}
	if g := b.get(lookup + "123"); g.status != 404 {
		t.Errorf("open world, no document = %d", g.status)
	}
}

func TestChapter4_DeleteOwnerDetailsFailsOnEveryCall(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "4 endpoint owner-details", "7 known 500 owner-details")
	b := start(t, sandbox.Options{})
	for _, id := range []string{someOther, "x", "1"} {
		if g := b.call("DELETE", owner+id, ""); g.status != 500 || g.body != messages("message.internal.error") {
			t.Errorf("%s = %d %s", id, g.status, g.body)
		}
	}
}

func TestChapter4_Rule1_ACompraNamesEveryConditionalFieldThatIsMissing(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "4 rule 1", "7 status 400 COMPRA")
	b := start(t, sandbox.Options{})
	var changes, keys []string
	for _, name := range conditional {
		changes, keys = append(changes, name, ""), append(keys, "message."+name+".mandatory")
	}
	if g := b.post(body(changes...)); g.status != 400 || g.body != messages(keys...) {
		t.Errorf("POST = %d %s", g.status, g.body)
	}
}

func TestChapter4_Rule3_TraceabilityRequiresProducerAndUserOnly(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "4 rule 3")
	b := start(t, sandbox.Options{})
	if g := b.creates(sandbox.ResourceTraceability, `{"producer_id":"`+producer+`","user_id":"`+issuer+
		`"}`); g.status != 201 {
		t.Errorf("POST = %d %s", g.status, g.body)
	}
}

func TestChapter4_Rule4_ScoreAndAnalysisInEitherOrder(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "4 rule 4")
	for _, order := range [][]string{
		{sandbox.ResourceCreditScore, sandbox.ResourceCreditAnalysis},
		{sandbox.ResourceCreditAnalysis, sandbox.ResourceCreditScore},
	} {
		b := start(t, sandbox.Options{})
		for _, resource := range order {
			if g := b.creates(resource, creations[resource].with()); g.status != 201 {
				t.Errorf("%v: %s = %d", order, resource, g.status)
			}
		}
	}
}
