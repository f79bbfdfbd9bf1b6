package trade_test

import (
	"testing"

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
		if got := trade.NumberText(tt.text, trade.Portuguese); got != tt.pt {
			t.Errorf("%s: %s, want %s", tt.text, got, tt.pt)
		}
		if got := trade.NumberText(tt.text, trade.English); got != tt.en {
			t.Errorf("%s: %s, want %s", tt.text, got, tt.en)
		}
	}
}
