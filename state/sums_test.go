package state

import (
	"strings"
	"testing"

	"github.com/safrasync/safrasync/trade"
)

func TestASumMayHaveMoreDigitsThanAnAmount(t *testing.T) {
	t.Parallel()
	whole, fraction := strings.Repeat("9", 30), strings.Repeat("1", 30)
	for _, text := range []string{whole + "." + fraction, "-" + whole + "." + fraction, "0", "-0.5", "12.25"} {
		n, err := trade.ParseSum(text)
		if err != nil || n.String() != text {
			t.Errorf("trade.ParseSum(%s) = %s, %v", text, n, err)
		}
	}
	if _, err := trade.ParseSum("a.b"); err == nil {
		t.Error("trade.ParseSum(a.b) gave no error")
	}
}
