package console_test

import (
	"testing"

	"github.com/safrasync/safrasync/console"
	"github.com/safrasync/safrasync/trade"
)

func TestDecimalsAreWrittenDigitByDigit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, pt, en string }{
		{"0", "0", "0"},
		{"1234567.50", "1.234.567,50", "1,234,567.50"},
		{"-999", "−999", "−999"},
		{"-1000.1", "−1.000,1", "−1,000.1"},
		{
			"12345678901234567890.123456789012345678", "12.345.678.901.234.567.890,123456789012345678",
			"12,345,678,901,234,567,890.123456789012345678",
		},
	} {
		if got := console.DecimalText(tt.text, trade.Portuguese); got != tt.pt {
			t.Errorf("%s: %s, want %s", tt.text, got, tt.pt)
		}
		if got := console.DecimalText(tt.text, trade.English); got != tt.en {
			t.Errorf("%s: %s, want %s", tt.text, got, tt.en)
		}
	}
}

func TestC14_DocumentsOfPersonsAreMasked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"529.982.247-25":                       "***.982.247-**",
		"CPF 52998224725 do produtor":          "CPF ***.982.247-** do produtor",
		"contrato 52998224724":                 "contrato 52998224724",
		"12.345.678/0001-95":                   "12.345.678/0001-95",
		"11111111111":                          "11111111111",
		"1f4c9f0e-3c1b-4f5e-9d5a-0d8b1e6a7c01": "1f4c9f0e-3c1b-4f5e-9d5a-0d8b1e6a7c01",
	} {
		if got := console.MaskText(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
