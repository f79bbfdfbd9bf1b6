package sandbox_test

import (
	"bytes"
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

func TestAWorldFileNamesTheValueThatIsWrong(t *testing.T) {
	t.Parallel()
	const u = `"5d1e7c7a-90c4-4e6c-8c51-0e2f4b6a8c9d"`
	for text, want := range map[string]string{
		`{"farms":[{"farm_id":"7","known":true}]}`: `farms[0].farm_id: want a UUID with hyphens, not "7"`,
		`{"farms":[{"farm_id":7,"known":true}]}`:   `farms[0].farm_id: want a UUID with hyphens, not 7`,
		`{"farms":[{"farm_id":[],"known":true}]}`:  `farms[0].farm_id: want a UUID with hyphens, not an array`,
		`{"farms":[{"farm_id":"` + strings.Repeat("é", 99) + `","known":true}]}`: `not "` +
			strings.Repeat("é", 60) + `"…`,
		`{"farms":[{"farm_id":` + u +
			`,"known":"yes"}]}`: `farms[0].known: want true or false, not "yes"`,
		`{"users":[` + doubled(`{"user_id":`+u+`,"known":true}`) +
			`]}`: `users[1].user_id: this id stands twice in the list: ` + u,
		`{"wallets":[],"wallet_producer_links":[{"wallet_id":` + u + `,"producer_id":` + u +
			`}]}`: `wallet_producer_links[0].wallet_id: this id is not in the list wallets: ` + u,
	} {
		if _, err := sandbox.ReadWorld(bytes.NewReader([]byte(text))); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
