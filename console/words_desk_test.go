package console

import (
	"io/fs"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
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
