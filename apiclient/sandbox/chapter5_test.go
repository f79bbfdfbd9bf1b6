package sandbox_test

import (
	"strings"
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/apidoc"
)

// every returns one valid request for each endpoint, by the endpoint's number or name.
func (b *box) every() map[string]func() got {
	b.t.Helper()
	call := func(method, path, sent string) func() got { return func() got { return b.call(method, path, sent) } }
	with := func(resource string) string { return creations[resource].with() }
	id := someOther
	return map[string]func() got{
		"1": call("POST", orders, body()),
		"2": call("GET", orders+"/"+id, ""),
		"3": call("POST", creations[sandbox.ResourceDeliveries].path, with(sandbox.ResourceDeliveries)),
		"4": call("POST", "/api/v1/integration/traceability/-/commitments/"+id,
			with(sandbox.ResourceTraceability)),
		"5":        call("GET", consent+"?identity=10143486764&personType=PF", ""),
		"6":        call("POST", creations[sandbox.ResourceCreditScore].path, with(sandbox.ResourceCreditScore)),
		"7":        call("POST", analysis, with(sandbox.ResourceCreditAnalysis)),
		"8":        call("GET", analysis+"/"+id, ""),
		"9":        call("POST", webhooks, with(sandbox.ResourceWebhooks)),
		"10":       call("GET", webhooks, ""),
		"11":       call("GET", byEvent+"CREATE_FARM", ""),
		"12":       call("PUT", webhooks, with(sandbox.ResourceWebhooks)),
		"13":       call("DELETE", webhooks+"/"+id, ""),
		"producer": call("GET", lookup+"10143486764", ""),
		"owner":    call("DELETE", owner+id, ""),
	}
}

func TestChapter5_Rules1And2_EveryEndpointAsksForTheKey(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "5 rule 1", "5 rule 2", "4 PUT webhooks 401", "7 status 401")
	b := start(t, sandbox.Options{APIKey: "another"})
	for name, call := range b.every() {
		if g := call(); g.status != 401 || !strings.HasPrefix(g.body, `{"data":[],"error":{`) {
			t.Errorf("endpoint %s = %d %s", name, g.status, g.body)
		}
	}
	if n := len(b.CreatedOf()); n != 0 {
		t.Errorf("%d records", n)
	}
}

func TestChapter5_Rule3_A401WithAnEmptyBodyComesFromAService(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "5 rule 3", "7 status 401")
	b := start(t, sandbox.Options{}, "any:status=401,empty")
	for name, call := range b.every() {
		if g := call(); g.status != 401 || g.body != "" {
			t.Errorf("endpoint %s = %d %s", name, g.status, g.body)
		}
	}
}

func TestChapter5_Rule4_AModuleThatIsNotContracted(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "5 rule 4", "7 status 403 module")
	routes := map[sandbox.Module][]string{
		sandbox.Commercial: {"1", "2", "3", "4"}, sandbox.Financial: {"5", "6", "7", "8"},
		sandbox.Webhooks: {"9", "10", "11", "12", "13"},
	}
	for missing := range routes {
		t.Run(string(missing), func(t *testing.T) {
			t.Parallel()
			b := start(t, sandbox.Options{NotContracted: []sandbox.Module{missing}})
			calls := b.every()
			for module, names := range routes {
				for _, name := range names {
					g := calls[name]()
					if refused := g.status == 403 &&
						g.body == messages("message.module.not-contracted"); refused != (module == missing) {
						t.Errorf("endpoint %s = %d %s", name, g.status, g.body)
					}
				}
			}
			b.SetNotContracted()
			if g := calls[routes[missing][0]](); g.status != 201 && g.status != 200 {
				t.Errorf("contracted again = %d %s", g.status, g.body)
			}
		})
	}
}

func TestChapter5_Rule5_AKeyWithoutPermissionGetsA403InNoFormOfTheAPI(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "5 rule 5")
	b := start(t, sandbox.Options{}, "any:status=403")
	for name, call := range b.every() {
		if g := call(); g.status != 403 || strings.Contains(g.body, "messages") {
			t.Errorf("endpoint %s = %d %s", name, g.status, g.body)
		}
	}
}

func TestOnlyModulesOfTheDocumentCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	if _, err := sandbox.ParseModules([]string{"Commercial"}); err == nil ||
		!strings.Contains(err.Error(), "known are commercial, financial, webhooks") {
		t.Errorf("ParseModules = %v", err)
	}
	if got, err := sandbox.ParseModules([]string{"webhooks", "commercial", "webhooks"}); err != nil || len(got) != 2 {
		t.Errorf("ParseModules = %v, %v", got, err)
	}
}
