package console

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/trade"
)

func TestEveryPhraseOfTheDeskSaysTheSameInBothLanguages(t *testing.T) {
	t.Parallel()
	for _, words := range []map[string]phrase{deskWords, pendingWords, doubtWords, changedWords, referenceWords, runWords, scheduleWords, auditWords} {
		for key, p := range words {
			if diff := cmp.Diff(verbs.FindAllString(p.pt, -1), verbs.FindAllString(p.en, -1)); diff != "" || p.pt == "" || p.en == "" {
				t.Errorf("%s (-pt +en):\n%s", key, diff)
			}
			if phrases[key] != p {
				t.Errorf("%s stands in the words of two pages", key)
			}
		}
	}
}

// Phrases that a template or a handler names as a whole are there. Those whose names are put together are met by the tests of the pages.
func TestEveryPhraseThatATemplateNamesIsThere(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile(`\.T "([a-z_.]+)"`)
	files, err := fs.Glob(templates, "templates/*.html")
	if err != nil || !slices.Contains(files, "templates/pending.html") {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := templates.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			if _, ok := phrases[m[1]]; !ok {
				t.Errorf("%s names %s, which is no phrase", file, m[1])
			}
		}
	}
}

// No word of IT stands in what accountants read (the glossary).
func TestTheDeskSpeaksAsAccountantsDo(t *testing.T) {
	t.Parallel()
	never := regexp.MustCompile(`(?i)\b(payload|batch|job|deletar|commit|colheita|carteira digital)\b`)
	for _, words := range []map[string]phrase{deskWords, pendingWords, doubtWords, changedWords, referenceWords, runWords, scheduleWords, auditWords} {
		for key, p := range words {
			if found := never.FindString(p.pt); found != "" {
				t.Errorf("%s says %q", key, found)
			}
		}
	}
}

// In the console nobody types commands: a sentence of the catalogue names the page or the button instead. What only IT can do, on the server, stays a command.
func TestSentencesNameButtonsAndNotCommands(t *testing.T) {
	t.Parallel()
	v := voice{lang: trade.Portuguese}
	for text, want := range map[string]string{
		"se existir, `safrasync adopt` com o id; se não, `safrasync resend --checked`": "se existir, “Confirmar na plataforma” com o id; se não, “Enviar outra vez (pode duplicar)”",
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
		if a := (*trade.Catalogue)(nil).Explain(state, "", trade.Portuguese); people[a.Fixer] && strings.Contains(v.Plain(a.Do), "safrasync") {
			t.Errorf("%s tells accountants to type a command: %s", state, v.Plain(a.Do))
		}
	}
}
