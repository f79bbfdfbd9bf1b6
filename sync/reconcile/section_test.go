package reconcile

import (
	"testing"

	"github.com/safrasync/safrasync/trade"
)

// A key with a document is masked before it is written: a link to it would find nothing.
func TestAMaskedKeyLeadsNowhere(t *testing.T) {
	t.Parallel()
	h := Heading{Console: "https://coop.example"}
	for key, want := range map[string]string{
		"01|1": "https://coop.example/search?q=01%7C1", trade.MaskDocuments("01|529.982.247-25"): "", "": "",
		"***": "https://coop.example/search?q=%2A%2A%2A",
	} {
		if got := h.Find(DivergencesSection, key); got != want {
			t.Errorf("%q leads to %q", key, got)
		}
	}
}
