package i18n_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/must"
)

var (
	verb        = regexp.MustCompile(`%(\[\d+\])?[+#]?[a-zA-Z]|%%`)
	placeholder = regexp.MustCompile(`\{[a-z]*\}`)
)

// texts reads a file as texts by their path, such as "cli/sync.dry" or "trade/stops/api_key/do".
// What packages erp and sync say in English (trade/details) needs no English words.
func texts(t *testing.T, file string) map[string]string {
	t.Helper()
	content := must.Get(os.ReadFile(file))(t)
	var all any
	if err := json.Unmarshal(content, &all); err != nil {
		t.Fatal(file, err)
	}
	out := map[string]string{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, value := range v {
				walk(strings.TrimPrefix(path+"/"+key, "/"), value)
			}
		case []any:
			if path == "trade/details" {
				return
			}
			lines := make([]string, len(v))
			for i, line := range v {
				lines[i] = line.(string)
			}
			out[path] = strings.Join(lines, "\n")
		default:
			out[path] = v.(string)
		}
	}
	walk("", all)
	return out
}

func TestBothLanguagesHaveTheSameKeysVerbsAndPlaceholders(t *testing.T) {
	t.Parallel()
	portuguese, english := texts(t, "pt-BR.json"), texts(t, "en.json")
	if len(portuguese) < 2000 {
		t.Fatalf("only %d texts were found: does the test still read them?", len(portuguese))
	}
	for key := range english {
		if _, ok := portuguese[key]; !ok {
			t.Errorf("%s stands in en.json only", key)
		}
	}
	for key, pt := range portuguese {
		en, ok := english[key]
		if said, is := strings.CutPrefix(key, "said/"); is { // its key is the English sentence
			en, ok = said, true
		}
		switch {
		case !ok:
			t.Errorf("%s stands in pt-BR.json only", key)
		case strings.TrimSpace(pt) == "" || strings.TrimSpace(en) == "":
			t.Errorf("%s is empty", key)
		}
		quoted := strings.NewReplacer("%q", "%s") // quoted, or within the language's own marks
		if diff := cmp.Diff(verb.FindAllString(quoted.Replace(pt), -1),
			verb.FindAllString(quoted.Replace(en), -1)); diff != "" {
			t.Errorf("%s has other verbs (-pt +en):\n%s", key, diff)
		}
		if diff := cmp.Diff(placeholders(pt), placeholders(en)); diff != "" {
			t.Errorf("%s has other placeholders (-pt +en):\n%s", key, diff)
		}
	}
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

func TestASentenceOfTheCodeIsTranslated(t *testing.T) {
	t.Parallel()
	for english, want := range map[string]string{
		"must be pt-BR or en":                       "deve ser pt-BR ou en",
		"unknown field `x`; did you mean `y`?":      "campo desconhecido: `x`; você quis dizer `y`?",
		"cannot be read: no such file or directory": "não pode ser lido: não existe",
		"the ERP file /a b/c does not exist; check erp.dsn (a relative path counts from the working directory)": "o arquivo " +
			"do ERP /a b/c não existe; confira erp.dsn (um caminho relativo parte da pasta de trabalho)",
		"look here or there":  "look here or there",
		"must be from 1 to":   "must be from 1 to",
		"it must be one line": "it must be one line",
	} {
		got, known := i18n.Translate(i18n.Portuguese, english)
		if got != want || known != (got != english) {
			t.Errorf("Said(%q) = %q, %t, want %q", english, got, known, want)
		}
		if got, _ := i18n.Translate(i18n.English, english); got != english {
			t.Errorf("in English: Said(%q) = %q", english, got)
		}
	}
}
