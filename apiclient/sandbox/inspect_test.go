package sandbox_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
)

// command sends a command without a key.
func (b *box) command(method, path, sent string) got {
	b.t.Helper()
	req := b.request(method, "/_sandbox"+path, sent)
	req.Header.Del("Authorization")
	req.Header.Del("Content-Type")
	g := b.send(req)
	g.body = strings.TrimSuffix(g.body, "\n")
	return g
}

func TestFaultsAreSwitchedWhileItRuns(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{Seed: 7})
	if g := b.command("GET", "/faults", ""); g.status != 200 || g.body != `{"faults":[],"seed":7}` {
		t.Errorf("GET = %d %s", g.status, g.body)
	}
	const two = `{"faults":["status=503@1","get:status=500"],"seed":7}`
	for _, sent := range []string{"status=503@1\r\nget:status=500\n", `{"faults":["status=503@1","get:status=500"]}`} {
		if g := b.command("PUT", "/faults", sent); g.status != 200 || g.body != two {
			t.Errorf("PUT = %d %s", g.status, g.body)
		}
	}
	if g := b.post(body()); g.status != 503 {
		t.Errorf("POST = %d", g.status)
	}
	for _, sent := range []string{"nonsense", `{"faults":["nonsense"]}`, `{"fault":[]}`, `{"faults":[]}{}`, "{"} {
		if g := b.command("PUT", "/faults", sent); g.status != 400 || !strings.HasPrefix(g.body, `{"error":"`) {
			t.Errorf("%q = %d %s", sent, g.status, g.body)
		}
	}
	if g := b.command("GET", "/faults", ""); g.body != two {
		t.Errorf("a refused command changed the faults: %s", g.body)
	}
	b.command("PUT", "/faults", "")
	if g := b.get(webhooks); g.status != 200 {
		t.Errorf("GET without faults = %d", g.status)
	}
}

func TestModulesKeyAndWorldAreSwitchedWhileItRuns(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{World: sandbox.NewWorld()})
	if g := b.command("PUT", "/modules", `{"not_contracted":["webhooks"]}`); g.status != 200 ||
		g.body != `{"not_contracted":["webhooks"]}` {
		t.Errorf("modules = %d %s", g.status, g.body)
	}
	if g := b.get(webhooks); g.status != 403 {
		t.Errorf("GET = %d", g.status)
	}
	if g := b.command("PUT", "/modules", "nonsense"); g.status != 400 {
		t.Errorf("nonsense = %d", g.status)
	}
	if g := b.command("PUT", "/modules", ""); g.body != `{"not_contracted":[]}` {
		t.Errorf("modules = %s", g.body)
	}
	for _, sent := range []string{
		`{"kind":"producers","id":"` + producer + `","known":true,"document":"10143486764"}`,
		`{"kind":"users","id":"` + issuer + `","known":true}`,
		`{"kind":"wallets","id":"` + wallet + `","known":true}`, `{"kind":"delivery_places","id":"` + place +
			`","known":true}`,
		`{"wallet_id":"` + wallet + `","producer_id":"` + producer + `","linked":true}`,
	} {
		if g := b.command("POST", "/world", sent); g.status != 204 {
			t.Errorf("%s = %d %s", sent, g.status, g.body)
		}
	}
	if g := b.post(body()); g.status != 201 {
		t.Errorf("POST = %d %s", g.status, g.body)
	}
	if g := b.get(lookup + "10143486764"); g.status != 200 {
		t.Errorf("lookup = %d", g.status)
	}
	for _, sent := range []string{
		"{}", `{"kind":"cats","id":"1","known":true}`, `{"kind":"wallets","id":"1"}`,
		`{"kind":"wallets","id":"1","known":true,"linked":true}`,
	} {
		if g := b.command("POST", "/world", sent); g.status != 400 {
			t.Errorf("%s = %d", sent, g.status)
		}
	}
	if g := b.command("PUT", "/key", `{"api_key":"renewed"}`); g.status != 204 {
		t.Errorf("key = %d %s", g.status, g.body)
	}
	if g := b.get(webhooks); g.status != 401 {
		t.Errorf("old key = %d", g.status)
	}
}

func TestAnEventIsSentByCommand(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, 200)
	b := start(t, sandbox.Options{})
	b.register("CHANGE_FARM_STATUS_ESG", r.URL)
	g := b.command("POST", "/events", `{"webhook_event":"CHANGE_FARM_STATUS_ESG","payload":{"status":"OK"}}`)
	if g.status != 202 || g.body != `{"sent_to":1}` {
		t.Errorf("POST = %d %s", g.status, g.body)
	}
	b.settled()
	if r.came[0].Body != `{"status":"OK"}` {
		t.Errorf("received %s", r.came[0].Body)
	}
	if g := b.command("GET", "/events", ""); !strings.Contains(g.body, `"webhook_event":"CHANGE_FARM_STATUS_ESG"`) ||
		!strings.Contains(g.body, `"ok":true`) {
		t.Errorf("GET = %s", g.body)
	}
	for _, sent := range []string{`{"webhook_event":"CREATE_CAT"}`, "CREATE_FARM", `{"webhook_event":5}`} {
		if g := b.command("POST", "/events", sent); g.status != 400 {
			t.Errorf("%s = %d", sent, g.status)
		}
	}
}

func TestTheReportListsWhatCameAndWhatWasMadeTwice(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{Seed: 3}, "lost-after@2")
	b.post(body())
	_, _ = b.try(b.request("POST", orders, body())) // the same again, with its answer lost
	b.post(body("amount", "7"))
	b.post("{}")
	b.get(lookup + "10143486764")
	b.creates(sandbox.ResourceCreditScore, creations[sandbox.ResourceCreditScore].with())
	b.creates(sandbox.ResourceTraceability, creations[sandbox.ResourceTraceability].with())

	g := b.command("GET", "/report", "")
	var r sandbox.Report
	must.Do(t, json.Unmarshal([]byte(g.body), &r))
	if diff := cmp.Diff(map[string]int{"order_commitments": 3, "credit_score": 1, "traceability": 1},
		r.Made); diff != "" || r.Total != 7 || r.Seed != 3 {
		t.Errorf("made (-want +got), total %d:\n%s", r.Total, diff)
	}
	created := b.Created()
	if len(r.MadeTwice) != 1 || len(r.MadeTwice[0]) != 2 || r.MadeTwice[0][0].ID != created[0].ID ||
		r.MadeTwice[0][1].ID != created[1].ID {
		t.Errorf("made twice = %+v", r.MadeTwice)
	}
	var statuses []int
	for _, request := range r.Requests {
		statuses = append(statuses, request.Status)
	}
	if diff := cmp.Diff([]int{201, 0, 201, 400, 200, 201, 201}, statuses); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
	if r.Requests[1].Fault != "lost-after@2" || r.Requests[1].Made[0] != created[1].ID ||
		r.Requests[4].Path != lookup+"{social_identity}" {
		t.Errorf("requests = %+v", r.Requests)
	}
	if strings.Contains(g.body, "10143486764") || !strings.Contains(g.body, "•64") {
		t.Error("a document number stands in the report, or none at all")
	}
	if b.Requests() != 7 {
		t.Error("looking counts as a request")
	}
}

func TestEqualContentsAreFoundWhateverTheOrderOfMembers(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{})
	k := creations[sandbox.ResourceDeliveries]
	sent := k.with()
	b.creates(sandbox.ResourceDeliveries, sent)
	b.creates(sandbox.ResourceDeliveries, `{"car":`+k.fields["car"]+", "+strings.Replace(k.with("car", ""), "{", "", 1))
	b.creates(sandbox.ResourceDeliveries, k.with("delivered_volume", "30.51"))
	b.post(body())
	b.post(body("order_date", `"2026-02-27"`))
	if twice := b.MadeTwice(); len(twice) != 1 || len(twice[0]) != 2 {
		t.Errorf("made twice = %+v", twice)
	}
}

func TestForeignPagesCannotLookInOrCommand(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{})
	own := strings.TrimPrefix(b.URL, "http://")
	tests := map[string]struct {
		host, origin string
		status       int
	}{
		"by another name":       {"sandbox.example.org", "", 403},
		"from another page":     {own, "https://example.org", 403},
		"from a page of no one": {own, "null", 403},
		"by localhost":          {"localhost:1", "", 200},
		"by IPv6":               {"[::1]", "", 200},
		"from its own page":     {own, b.URL, 200},
	}
	for name, test := range tests {
		req := b.request("PUT", "/_sandbox/faults", "lost-after")
		req.Host = test.host
		if test.origin != "" {
			req.Header.Set("Origin", test.origin)
		}
		if g := b.send(req); g.status != test.status {
			t.Errorf("%s = %d", name, g.status)
		}
		b.SetFaults()
	}
}

func TestUnknownCommands(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{})
	for call, status := range map[string]int{
		"GET /nothing": 404, "DELETE /faults": 405, "POST /report": 405, "PUT /events": 405, "GET /key": 405,
		"HEAD /report": 405,
	} {
		method, path, _ := strings.Cut(call, " ")
		if g := b.command(method, path, ""); g.status != status {
			t.Errorf("%s = %d, want %d", call, g.status, status)
		}
	}
	if g := b.command("PUT", "/faults", strings.Repeat("x", 2<<20)); g.status != http.StatusBadRequest {
		t.Errorf("a long command = %d", g.status)
	}
	if g := b.get("/_sandboxes"); g.status != 404 || b.Requests() != 1 {
		t.Errorf("a path beside it = %d, %d requests", g.status, b.Requests())
	}
}
