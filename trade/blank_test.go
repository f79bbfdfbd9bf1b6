package trade_test

import (
	"testing"

	"github.com/safrasync/safrasync/trade"
)

func TestABlankPartOfAKeyIsSaid(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"001|00001105||1|0": "001|00001105|(vazio)|1|0", "01|": "01|(vazio)", "|7": "(vazio)|7",
		"||": "(vazio)|(vazio)|(vazio)",
		"7":  "7", "": "", `a\||b`: `a\||b`, `a\\||b`: `a\\|(vazio)|b`, "01|7": "01|7",
		"o contrato 1||2 aguarda": "o contrato 1|(vazio)|2 aguarda",
	} {
		said := trade.NameBlanks(key, trade.Portuguese)
		if said != want {
			t.Errorf("%s is said %s, want %s", key, said, want)
		}
		if back := trade.RemoveBlankNames(said); back != key {
			t.Errorf("%s is understood as %s, want %s", said, back, key)
		}
	}
	said := trade.NameBlanks("1||2", trade.English)
	if said != "1|(blank)|2" || trade.RemoveBlankNames(said) != "1||2" {
		t.Errorf("in English it is %s", said)
	}
}
