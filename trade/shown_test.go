package trade_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

func TestWhatIsShownKeepsItsOrderAndIsBounded(t *testing.T) {
	s := trade.NewShown("01|7", []trade.ShownText{
		{"contrato", " 01/001008 "},
		{"produtor", "José \"Zé\" da Silva"},
		{"obs", strings.Repeat("é", 300)},
	})
	text, err := json.Marshal(s)
	if err != nil || !strings.HasPrefix(string(text),
		`{"contrato":"01/001008","produtor":"José \"Zé\" da Silva","obs":"`) {
		t.Fatalf("%s, %v", text, err)
	}
	var back trade.Shown
	must.Do(t, json.Unmarshal(text, &back))
	if back.Line() != s.Line() || len([]rune(s.Get("obs"))) != trade.MaxShownText {
		t.Errorf("%q is read back as %q", s.Line(), back.Line())
	}
	if empty, err := json.Marshal(trade.Shown{}); string(empty) != `{}` || err != nil {
		t.Errorf("nothing is written as %s, %v", empty, err)
	}
	if got := (trade.Shown{}).Lead("01|7"); got != "01|7" {
		t.Errorf("without texts the row leads with %q", got)
	}
}

func TestTheMarkOfWhatIsShownTellsVersionsApart(t *testing.T) {
	of := func(key, label, text string) int64 {
		return trade.NewShown(key, []trade.ShownText{{label, text}}).Mark
	}
	first := of("1", "a", "x")
	if first == 0 || first != of("1", "a", " x ") || first == of("1", "a", "y") || first == of("1", "b", "x") ||
		first == of("2", "a", "x") || trade.NewShown("1", nil).Mark != 0 {
		t.Error("two versions have the same mark, or one has two")
	}
}

func TestWhatIsShownIsMaskedInEveryForm(t *testing.T) {
	for _, cpf := range []string{"11144477735", "111.444.777-35", "00011144477735", "111 444 777 35"} {
		s := trade.NewShown("1", []trade.ShownText{{"produtor", "José " + cpf}}).Masked()
		if line := s.Line(); line != "José ***.444.777-**" {
			t.Errorf("%s is shown as %q", cpf, line)
		}
	}
}
