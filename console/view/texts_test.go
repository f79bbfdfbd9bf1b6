package view

import (
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// In the console nobody types commands: a sentence of the catalogue names the page or the button
// instead. What only IT can do, on the server, stays a command.
func TestSentencesNameButtonsAndNotCommands(t *testing.T) {
	t.Parallel()
	v := Voice{lang: trade.Portuguese}
	for text, want := range map[string]string{
		"se existir, `safrasync adopt` com o id; se não, `safrasync resend --checked`": "se existir, “Registrar como já enviado” com o id; se não, “Não existe lá: enviar de novo”",
		"`safrasync release {job} --reason TEXTO`":                                     "“Ver e liberar” (administrador)",
		"ERP; depois safrasync release":                                                "ERP; depois “Ver e liberar” (administrador)",
		"de-para (`safrasync refs`)":                                                   "de-para",
		"confira com `safrasync check`":                                                "confira com safrasync check",
	} {
		if got := v.Plain(text); got != want {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	// Whoever has only a browser is told what to do there, or that it is for IT.
	for _, lang := range []trade.Lang{trade.Portuguese, trade.English} {
		it := map[trade.Lang]string{trade.Portuguese: "TI", trade.English: "IT"}[lang]
		said := map[string]trade.Advice{}
		for _, cause := range adviceNames("causes.") {
			said[cause] = trade.Explain(trade.Rejected, cause, lang)
		}
		for _, state := range adviceNames("standing.") {
			said[state] = trade.Explain(trade.State(state), "", lang)
		}
		for _, flag := range adviceNames("remarks.") {
			said[flag] = trade.ExplainFlag(trade.Flag(flag), lang)
		}
		for _, code := range adviceNames("stops.") {
			said["stop:"+code] = trade.ExplainStop(code, lang)
		}
		if len(said) < 60 {
			t.Fatalf("only %d texts were read", len(said))
		}
		for key, a := range said {
			do := (Voice{lang: lang}).Plain(a.Do)
			if a.Fixer != trade.FixIT && strings.Contains(do, "safrasync ") && !strings.Contains(do+a.Who, it) {
				t.Errorf("%s tells %s to type a command: %s", key, a.Who, do)
			}
		}
	}
}

// adviceNames returns what has an advice.
func adviceNames(of string) (out []string) {
	for _, name := range i18n.Trade.Names(of) {
		if name, ok := strings.CutSuffix(name, ".do"); ok {
			out = append(out, name)
		}
	}
	return out
}

// People read tonnes to the kilogram; files and JSON have every digit.
func TestTonnesAreShownToTheKilogram(t *testing.T) {
	t.Parallel()
	v := NewVoice(trade.Portuguese, time.UTC)
	for kg, want := range map[string]string{
		"119145216467.5": "≈ 119.145.216,468 t", "6001": "6,001 t", "60000": "60 t",
		"0.4": "≈ 0 t", "-1500.2": "≈ −1,5 t",
	} {
		if got := v.Tonnes(must.Get(trade.ParseDecimal(kg))(t)); got != want {
			t.Errorf("%s kg: %s, want %s", kg, got, want)
		}
	}
}

// A phrase around a number of documents agrees with it.
func TestAPhraseAgreesWithItsDocuments(t *testing.T) {
	v := Voice{lang: trade.Portuguese}
	for n, want := range map[int]string{1: "Outro 1 documento espera um ", 2: "Outros 2 documentos esperam um "} {
		if got := v.T("pending.moving", v.Documents(n)); !strings.HasPrefix(got, want) {
			t.Errorf("%d: %q", n, got)
		}
	}
}
