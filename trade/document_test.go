package trade_test

import (
	"testing"

	"github.com/safrasync/safrasync/trade"
)

func TestEveryFormOfADocumentIsMasked(t *testing.T) {
	t.Parallel()
	const hidden = "***.982.247-**"
	for text, want := range map[string]string{
		"52998224725":                          hidden,
		"529.982.247-25":                       hidden,
		"00052998224725":                       hidden,
		"P52998224725":                         "P" + hidden,
		"01_529.982.247-25":                    "01_" + hidden,
		"01|52998224725|7":                     "01|" + hidden + "|7",
		"529 982 247 25":                       hidden,
		"529.982-247/25":                       hidden,
		"529 . 982 . 247 - 25":                 hidden,
		"529.982.247.25":                       hidden,
		"529982247-25":                         hidden,
		"529\u00a0982\u00a0247\u201325":        hidden,
		"52998224725X":                         hidden + "X",
		"de 52998224725 a 529.982.247-25":      "de " + hidden + " a " + hidden,
		"João: CPF 529.982.247-25, telefone 3": "João: CPF " + hidden + ", telefone 3",
	} {
		if got := trade.MaskDocuments(text); got != want {
			t.Errorf("%q is shown as %q, not as %q", text, got, want)
		}
	}
}

func TestWhatIsNoDocumentOfAPersonStays(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "52998224726", "11111111111", "123529982247259", "529,982,247.25", "529.982.247,25", "529982247.25",
		"529982247,25",
		"12.345.678/0001-95", "12345678000195", "a1b2c3d4-0000-7000-8000-052998224725", "2026-11-23T15:04:05Z",
		"01|1234/2026",
	} {
		if got := trade.MaskDocuments(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}
