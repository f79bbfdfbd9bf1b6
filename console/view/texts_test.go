package view

import (
	"strings"
	"testing"

	"github.com/safrasync/safrasync/trade"
)

// In the console nobody types commands: a sentence of the catalogue names the page or the button
// instead. What only IT can do, on the server, stays a command.
func TestSentencesNameButtonsAndNotCommands(t *testing.T) {
	t.Parallel()
	v := Voice{lang: trade.Portuguese}
	for text, want := range map[string]string{
		"se existir, `safrasync adopt` com o id; se não, `safrasync resend --checked`": "se existir, “Registrar como já enviado” com o id; se não, “Enviar de novo (pode duplicar)”",
		"`safrasync release {job} --reason TEXTO`":                                     "“Liberar”",
		"ERP; depois safrasync release":                                                "ERP; depois “Liberar”",
		"de-para (`safrasync refs`)":                                                   "de-para",
		"confira com `safrasync check`":                                                "confira com safrasync check",
	} {
		if got := v.Plain(text); got != want {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	people := map[trade.Fixer]bool{trade.FixAccounting: true}
	for _, state := range trade.States {
		if a := (*trade.Catalogue)(nil).Explain(state, "", trade.Portuguese); people[a.Fixer] &&
			strings.Contains(v.Plain(a.Do), "safrasync") {
			t.Errorf("%s tells accountants to type a command: %s", state, v.Plain(a.Do))
		}
	}
}
