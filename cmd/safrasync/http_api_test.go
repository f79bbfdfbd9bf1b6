package main

import (
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/routers"
)

// The tokens of the tests: as long as they must be, and canaries for what must not be told.
const (
	buttonToken = "canary-token-of-the-button-in-the-erp-5f1d"
	panelToken  = "canary-token-of-the-panel-77aa0c3e9b12d4e6"
	wholeOrder  = `{"job": "contracts", "sweep": true}`
)

// newButton is a service whose job runs when it is ordered, and which other programs reach.
func newButton(t *testing.T, on string, held bool) *service {
	t.Helper()
	s := newService(t, on, held)
	s.write("credentials/button", buttonToken+"\n")
	s.write("credentials/panel", panelToken+"\n")
	s.write("credentials/table", tableToken+"\n")
	s.edit(`"@every 1s"`, `"@every 24h"`)
	s.edit("jobs:\n", `http_api:
  listen: 127.0.0.1:0
  tokens:
    - {name: erp-botao, token: "${file:button}", scopes: [run]}
    - {name: painel, token: "${file:panel}", scopes: [status]}
    - {name: erp-contratos, token: "${file:table}", scopes: [rows]}
jobs:
`)
	return s
}

// served is where a service is reached.
func (s *service) served() string {
	s.t.Helper()
	return "http://" + s.line("the address", func(l logLine) bool { return l.Msg == "http_api is served" }).Address
}

// A client made from the served document calls each operation, and meets each documented answer
// (but 503, for which the ledger would have to be down) as its schema says.
func TestOtherProgramsOrderRunsAndAskAsTheDocumentSays(t *testing.T) {
	onEither(t, func(t *testing.T, on string) {
		s := newButton(t, on, true)
		s.start()
		c := readOpenAPI(t, s.served(), "/api/v1/openapi.json")
		var order, asks, lists, one *routers.Route
		for _, o := range c.operations() {
			id, body := o.Operation.OperationID, ""
			switch id {
			case "orderRun":
				order, body = o, wholeOrder
			case "getStatus":
				asks = o
			case "listRows":
				lists = o
			case "getRow":
				one = o
				c.fill = map[string]string{"job": "contracts", "key": "01|000001"}
			default:
				if status, _ := c.call(o, "", ""); status != http.StatusOK || o.Operation.Security == nil {
					t.Errorf("%s without a token: %d", id, status)
				}
				continue
			}
			for _, token := range []string{"", "x", panelToken + "x", strings.ToUpper(panelToken)} {
				if status, _ := c.call(o, token, body); status != http.StatusUnauthorized {
					t.Errorf("%s with another token: %d", id, status)
				}
			}
			scope := o.Operation.Extensions["x-scope"]
			other := map[any]string{"run": panelToken, "status": buttonToken, "rows": panelToken}[scope]
			if status, _ := c.call(o, other, body); status != http.StatusForbidden {
				t.Errorf("%s with a token of another scope: %d", id, status)
			}
		}
		schema := order.Operation.RequestBody.Value.Content.Get("application/json").Schema.Value
		if got := slices.Sorted(maps.Keys(schema.Properties)); !slices.Equal(got, []string{"job", "sweep"}) {
			t.Errorf("an order has %v: the wrong ones below must have each", got)
		}
		for _, wrong := range []string{
			`["text"]`, `{"job": {"in": "an object"}}`, `{"job": "contracts", "sweep": {"in": "an object"}}`, `{"sweep": true}`,
			`{"job": "", "sweep": true}`, `{"job": "contracts", "sweep": true, "unheard_of": 1}`,
		} {
			if status, _ := c.call(order, buttonToken, wrong); status != http.StatusBadRequest {
				t.Errorf("%s: %d", wrong, status)
			}
		}
		if status, _ := c.call(order, buttonToken, `{"job": "unheard-of"}`); status != http.StatusNotFound {
			t.Errorf("an unknown job: %d", status)
		}
		refused := func(code string) {
			t.Helper()
			status, answer := c.call(order, buttonToken, `{"job": "contracts"}`)
			if status != http.StatusConflict || !strings.Contains(answer, `"code":"`+code+`"`) {
				t.Errorf("the order is answered with %d %s, want 409 %s", status, answer, code)
			}
		}

		for query, want := range map[string]int{
			"": 200, "?limit=1&job=contracts&state=accepted&state=held": 200, "?limit=501": 400,
		} {
			if status, text := c.call(lists, tableToken, query); status != want {
				t.Errorf("rows%s: %d %s", query, status, text)
			}
		}
		cursor := base64.RawURLEncoding.EncodeToString([]byte(`{"f":"other","n":1,"a":true}`))
		if status, _ := c.call(lists, tableToken, "?cursor="+cursor); status != http.StatusGone {
			t.Errorf("a cursor of another ledger: %d", status)
		}

		<-s.posts // the run at the start is on its way
		refused("running")
		for range 2 {
			s.hold <- struct{}{}
		}
		s.ran()
		status, answer := c.call(order, buttonToken, wholeOrder)
		if status != http.StatusAccepted || !strings.Contains(answer, `"ordered_by":"erp-botao"`) {
			t.Errorf("the order is answered with %d %s", status, answer)
		}
		if l := s.ran(); !strings.Contains(l.raw, `"sweep":true`) {
			t.Errorf("what was ordered is a sweep, and what ran: %s", l.raw)
		}
		s.must(0, "pause", "contracts", "--note", "teste")
		refused("paused")
		if status, answer := c.call(one, tableToken, ""); status != http.StatusOK ||
			!strings.Contains(answer, `"state":"accepted"`) {
			t.Errorf("a row: %d %s", status, answer)
		}
		c.fill["key"] = "none"
		if status, _ := c.call(one, tableToken, ""); status != http.StatusNotFound {
			t.Errorf("an unknown row: %d", status)
		}
		if status, answer := c.call(asks, panelToken, ""); status != http.StatusOK ||
			!strings.Contains(answer, `"state":"paused"`) {
			t.Errorf("the status: %d %s", status, answer)
		}
		orders := 0
		for line := range strings.Lines(s.must(0, "report", "--audit", "--json")) {
			if strings.Contains(line, `"act":"run now"`) {
				orders++
				for _, want := range []string{`"who":"erp-botao"`, `"http_api 127.0.0.1"`, `"contracts"`} {
					if !strings.Contains(line, want) {
						t.Errorf("the audit does not have %s: %s", want, line)
					}
				}
			}
		}
		if orders != 1 {
			t.Errorf("the audit tells of %d orders, want 1", orders)
		}

		// A token has ten a second; so has an address without one.
		for _, o := range c.operations() {
			token := buttonToken
			if o.Operation.OperationID == "getDocument" {
				token = ""
			}
			for range 1000 {
				if status, _ := c.call(o, token, ""); status == http.StatusTooManyRequests {
					break
				}
			}
		}
		unseen := slices.DeleteFunc(c.unseen, func(answer string) bool { return strings.HasSuffix(answer, " 503") })
		if len(unseen) > 0 {
			t.Errorf("documented answers that never came: %v", unseen)
		}
		s.stop()
		for what, text := range map[string]string{
			"the log": s.rest(), "the audit": s.must(0, "report", "--audit", "--json"),
			"config show": s.must(0, "config", "show"),
		} {
			for _, token := range []string{buttonToken, panelToken} {
				if strings.Contains(text, token) {
					t.Errorf("%s tells a token", what)
				}
			}
		}
	})
}
