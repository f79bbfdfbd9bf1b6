package trade_test

import (
	"testing"

	"github.com/safrasync/safrasync/trade"
)

func TestOneGuardAgainstFormulasForEveryFile(t *testing.T) {
	t.Parallel()
	for _, start := range []string{
		"=", "+", "-", "-1+", "'-1,", "@", "|", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'=",
		" =", "\u00a0=", "\u200b+", "  @", "' -a",
	} {
		guarded := trade.GuardFormula(start + "x")
		if guarded != "'"+start+"x" || trade.UnguardFormula(guarded) != start+"x" {
			t.Errorf("%q becomes %q, and that %q", start+"x", guarded, trade.UnguardFormula(guarded))
		}
	}
	for _, text := range []string{"", "x", "'x", "1=2", "-240", "-1.234,56", " -240", " x", "  ", ""} {
		if trade.GuardFormula(text) != text || trade.UnguardFormula(text) != text {
			t.Errorf("%q is changed", text)
		}
	}
}
