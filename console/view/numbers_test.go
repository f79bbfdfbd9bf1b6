package view

import (
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// A weight has the kilograms that matter: a very large one is in whole tonnes, and exact in its title.
func TestAVeryLargeWeightIsInWholeTonnes(t *testing.T) {
	t.Parallel()
	v := NewVoice(trade.Portuguese, time.UTC)
	for kg, want := range map[string]string{
		"119145216467.5": `<span title="119.145.216,4675 t">119.145.216 t</span>`,
		"-119145216467":  `<span title="−119.145.216,467 t">−119.145.216 t</span>`,
		"12721480":       "12.721,48 t", "-79200": "−79,2 t", "0": "0 t",
	} {
		if got := string(v.Weight(must.Get(trade.ParseDecimal(kg))(t))); got != want {
			t.Errorf("%s kg: %s, want %s", kg, got, want)
		}
	}
}

// A state has its short name on a page; commands and files have the whole one.
func TestStatesHaveShortNames(t *testing.T) {
	t.Parallel()
	v := NewVoice(trade.Portuguese, time.UTC)
	for state, want := range map[trade.State]string{
		trade.InDoubt: "sem confirmação", trade.Held: "retido", trade.Invalid: "com erro", trade.Accepted: "enviado",
	} {
		if got := v.State(state); got != want {
			t.Errorf("%s is %q, want %q", state, got, want)
		}
	}
}

// A column of weights has three digits after the point on every line, so that the commas stand below each other.
func TestAColumnOfWeightsHasThreeDecimals(t *testing.T) {
	t.Parallel()
	v := NewVoice(trade.Portuguese, time.UTC)
	for kg, want := range map[string]string{
		"457680": "457,680", "60000": "60,000", "-1500.2": "−1,500", "0": "0,000", "6001.5": "6,002",
		"1444848000": "1.444.848,000",
	} {
		if got := v.BareTonnes(must.Get(trade.ParseDecimal(kg))(t)); got != want {
			t.Errorf("%s kg: %s, want %s", kg, got, want)
		}
	}
}
