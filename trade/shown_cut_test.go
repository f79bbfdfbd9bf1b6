package trade_test

import (
	"strings"
	"testing"

	"github.com/safrasync/safrasync/trade"
)

// If a long text would be cut within a document, the whole document is left out: half of one is not
// recognised any more and would not be masked.
func TestACutTextShowsNoPartOfADocument(t *testing.T) {
	t.Parallel()
	for at := trade.MaxShownText - 16; at < trade.MaxShownText+2; at++ {
		text := strings.Repeat("n", at-1) + " 529.982.247-25 Silva e filhos, de Maracaju, no Mato Grosso do Sul"
		shown := trade.MaskDocuments(trade.CutText(text))
		if digits := strings.Count(shown, "2") + strings.Count(shown, "9"); digits > 6 {
			t.Errorf("cut at %d: %s", at, shown[at-1:])
		}
	}
}
