package i18n_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/phrase"
)

var (
	verb        = regexp.MustCompile(`%(\[\d+\])?[+#]?[a-zA-Z]|%%`)
	placeholder = regexp.MustCompile(`\{[a-z]*\}`)
)

// form is a text in both languages.
type form struct{ portuguese, english string }

// texts reads the catalogue as texts by their path, such as "codes/cli/cron.run" or "said/the English sentence".
func texts(t *testing.T) map[string]form {
	t.Helper()
	var all any
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile("pt-BR.json"))(t), &all))
	out := map[string]form{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, value := range v {
				walk(strings.TrimPrefix(path+"/"+key, "/"), value)
			}
		case []any:
			switch len(v) {
			case 1:
				out[path] = form{v[0].(string), v[0].(string)}
			case 2:
				out[path] = form{v[1].(string), v[0].(string)}
			default:
				t.Fatalf("%s is not English and Portuguese: %q", path, v)
			}
		case string:
			out[path] = form{v, strings.TrimPrefix(path, "said/")}
		}
	}
	walk("", all)
	return out
}

func TestBothLanguagesHaveTheSameVerbsAndPlaceholders(t *testing.T) {
	t.Parallel()
	all := texts(t)
	if len(all) < 2000 {
		t.Fatalf("only %d texts were found: does the test still read them?", len(all))
	}
	for key, text := range all {
		switch said := strings.HasPrefix(key, "said/"); {
		case strings.TrimSpace(text.portuguese) == "" || strings.TrimSpace(text.english) == "":
			t.Errorf("%s is empty", key)
		case text.portuguese != text.english || said:
		case !strings.HasPrefix(key, "codes/trade/") && !readsTheSame(text.english):
			t.Errorf("%s is the same in both languages", key)
		}
		quoted := strings.NewReplacer("%q", "%s") // quoted, or within the language's own marks
		if diff := cmp.Diff(verb.FindAllString(quoted.Replace(text.portuguese), -1),
			verb.FindAllString(quoted.Replace(text.english), -1)); diff != "" {
			t.Errorf("%s has other verbs (-pt +en):\n%s", key, diff)
		}
		if diff := cmp.Diff(placeholders(text.portuguese), placeholders(text.english)); diff != "" {
			t.Errorf("%s has other placeholders (-pt +en):\n%s", key, diff)
		}
	}
}

// What a sentence names in quotes is the text of a button, a page or another thing of the catalogue: who changes
// that text changes the sentence too.
func TestASentenceNamesButtonsByTheirTexts(t *testing.T) {
	t.Parallel()
	quoted := regexp.MustCompile(`“([^”%{]+)”`)
	foreign := []string{"CSV UTF-8", "criado", "created"} // a word of Excel, and one of the API
	all, have, named := texts(t), map[string]bool{}, 0
	for _, text := range all {
		have[text.portuguese], have[text.english] = true, true
	}
	for key, text := range all {
		for _, found := range quoted.FindAllStringSubmatch(text.portuguese+text.english, -1) {
			named++
			if name := found[1]; !have[name] && !slices.Contains(foreign, name) {
				t.Errorf("%s names “%s”, which is no text of the catalogue", key, name)
			}
		}
	}
	if named < 50 {
		t.Errorf("only %d names were found", named)
	}
}

// sameInBoth are the words that both languages have.
var sameInBoth = []string{
	"API", "CAR", "CSV", "CSV (Excel)", "ERP", "Excel", "JSON", "NULL", "SQLite", "Workflow", "backup", "decimal",
	"fsync", "full_page_writes", "jit", "kg", "references.{kind}", "server_version", "status {status}", "synchronous",
	"synchronous_commit", "total", "{bytes} bytes",
}

// readsTheSame reports whether a text needs no translation: a word of both languages, a command without a
// reason, or a form without a letter of its own.
func readsTheSame(text string) bool {
	form := regexp.MustCompile(`\{[a-z:]*\}`).ReplaceAllString(verb.ReplaceAllString(text, ""), "")
	return slices.Contains(sameInBoth, text) || !strings.ContainsFunc(form, unicode.IsLetter) ||
		strings.HasPrefix(text, "safrasync ") && !strings.Contains(text, "--reason")
}

func placeholders(text string) []string {
	return slices.Compact(slices.Sorted(slices.Values(placeholder.FindAllString(text, -1))))
}

func TestATextIsFoundByPartAndKey(t *testing.T) {
	t.Parallel()
	if got := i18n.Report.Text(i18n.Portuguese, "title"); got != "Conciliação ERP × Plataforma" {
		t.Errorf("Text = %q", got)
	}
	if got := i18n.Report.Text("fr", "title"); got != "Conciliação ERP × Plataforma" {
		t.Errorf("another language: Text = %q", got)
	}
	if got := i18n.Report.Text(i18n.English, "no.such_key"); got != "no.such_key" {
		t.Errorf("an unknown key: Text = %q", got)
	}
	if got := i18n.Report.Find(i18n.English, "no.such_key"); got != "" || i18n.Report.Has("no.such_key") {
		t.Errorf("an unknown key: Find = %q", got)
	}
	if got := i18n.CLI.Text(i18n.English, "help.sync_long"); strings.Count(got, "\n") < 5 {
		t.Errorf("a text of several lines: %q", got)
	}
	if names := i18n.Report.Names("section.title."); !slices.Contains(names, "bridge") || !slices.IsSorted(names) {
		t.Errorf("Names = %q", names)
	}
}

func TestASentenceOfTheCodeIsTold(t *testing.T) {
	t.Parallel()
	foreign := errors.New("disk on fire")
	for want, err := range map[string]error{
		"não pode ser lido: não existe": phrase.Errorf("cannot be read: %w", syscall.ENOENT),
		"campo desconhecido: `x`; você quis dizer `y`?": phrase.New("%w; did you mean `%s`?",
			phrase.New("unknown field %s", "`x`"), "y"),
		"na conferência da cópia: “disk on fire”": phrase.Errorf("checking the copy: %w", foreign),
		"disk on fire":              foreign,
		"rotina j: não há diário":   phrase.New("job %s: %w", "j", errors.Join(errors.New("there is no journal"))),
		"o arquivo /a b não existe": &fs.PathError{Op: "open", Path: "/a b", Err: syscall.ENOENT},
		"":                          (*phrase.Text)(nil),
	} {
		if got := i18n.ErrorText(i18n.Portuguese, err); got != want {
			t.Errorf("%v is told as %q, want %q", err, got, want)
		}
		if got := i18n.ErrorText(i18n.English, err); got != err.Error() {
			t.Errorf("%q is told in English as %q", err, got)
		}
	}
	if err := phrase.Errorf("a: %w", foreign); !errors.Is(err, foreign) {
		t.Error("what a sentence wraps is not found")
	}
}

// People with a browser are sent to the page that shows what a command lists: what is decided one by one has
// a page of its own.
func TestACommandIsThePageThatShowsTheSame(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"veja `safrasync rows contracts --state in_doubt`": "veja “Para decidir”",
		"veja `safrasync rows --state held`":               "veja “Para decidir”",
		"veja `safrasync rows --state invalid`":            "veja “Documentos”",
		"se são dois: `safrasync retry --checked`":         "se são dois: “São dois: enviar”",
		"depois: `safrasync release contracts`":            "depois: “Ver e liberar” (administrador)",
	} {
		if got := i18n.InBrowser(i18n.Portuguese, text); got != want {
			t.Errorf("%q is told as %q, want %q", text, got, want)
		}
	}
}
