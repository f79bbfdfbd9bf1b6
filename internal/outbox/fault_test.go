package outbox

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/trade"
)

// Whatever goes wrong has words, and none of them is about an alert or about mail.
func TestFaultsHaveWordsOfTheEvents(t *testing.T) {
	t.Parallel()
	codes := []string{
		"timeout", "dns", "certificate", "refused", "broken", "form", "address", "no_tls", "protocol", "proxy_502",
	}
	for status := http.StatusMultipleChoices; status < 600; status++ {
		codes = append(codes, fmt.Sprintf("http_%d", status))
	}
	nothing := strings.TrimPrefix(Why("x").In(trade.Portuguese, nil), "x")
	var said []string
	for _, code := range codes {
		text := Why(code).In(trade.Portuguese, nil)
		rest, has := strings.CutPrefix(text, code)
		if !has || rest == nothing || strings.Contains(text, "alerts") || strings.Contains(text, "e-mail") {
			t.Errorf("%s: %s", code, text)
		}
		said = append(said, rest)
	}
	if slices.Sort(said); len(slices.Compact(said)) != 15 {
		t.Errorf("%d sentences", len(slices.Compact(said)))
	}
}
