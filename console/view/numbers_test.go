package view

import (
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// An overview has whole tonnes, and decimals only of what is less than one.
func TestAnOverviewHasWholeTonnes(t *testing.T) {
	t.Parallel()
	v := NewVoice(trade.Portuguese, time.UTC)
	for kg, want := range map[string]string{
		"119145216467.5": "119.145.216 t", "-12721480": "−12.721 t", "2235": "2 t", "1000": "1 t",
		"999.5": "1,000 t", "-300": "−0,300 t", "0": "0 t",
	} {
		if got := v.WholeTonnes(must.Get(trade.ParseDecimal(kg))(t)); got != want {
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
