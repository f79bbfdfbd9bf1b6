package sandbox_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
)

// A record that is sent again may be written in another way; the grain is still counted twice.
func TestEqualValuesInOtherDigitsAreMadeTwice(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{})
	b.post(body("amount", "1500.5", "producer_id", quote(producer)))
	b.post(body("amount", "1500.50", "producer_id", quote(strings.ToUpper(producer))))
	b.post(body("amount", "1500.05"))
	b.post(body("amount", "15005"))
	b.post(body("amount", "100"))
	b.post(body("amount", "10"))
	b.post(body("amount", "10.0"))
	var groups []int
	for _, g := range b.MadeTwice() {
		groups = append(groups, len(g))
	}
	if diff := cmp.Diff([]int{2, 2}, groups); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}

func TestTheNumbersOfFaultsCountFromTheStartOfTheSandbox(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{})
	b.post(body())
	b.post(body())
	b.post("{}")
	b.get(webhooks)
	b.command("PUT", "/faults", "status=503@4")
	var shown struct{ Numbers map[string]int }
	must.Do(t, json.Unmarshal([]byte(b.command("GET", "/report", "").body), &shown))
	want := map[string]int{
		"": 3, "order_commitments:": 3, "get:": 1, "get:webhooks:": 1, "any:": 4,
		"any:order_commitments:": 3, "any:webhooks:": 1,
	}
	if diff := cmp.Diff(want, shown.Numbers); diff != "" {
		t.Errorf("numbers (-want +got):\n%s", diff)
	}
	if g := b.post(body()); g.status != 503 {
		t.Errorf("the fourth POST since the start: %d", g.status)
	}
	if g := b.post(body()); g.status != 201 {
		t.Errorf("the fifth: %d", g.status)
	}
}
