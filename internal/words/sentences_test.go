package words

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/english"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

var hole = regexp.MustCompile(`\{([a-z_]+)(?::([a-z]+))?\}`)

// saidIn are the codes that one function names, and what it puts into sentences.
type saidIn struct {
	at    string
	codes map[string]map[string]bool // by code, what its own call puts in; nil: no call has it
	more  map[string]bool            // what is added to a sentence
	all   map[string]bool            // what is put into any
}

// sayings reads what the functions of the program say.
func sayings(t *testing.T) (out []saidIn) {
	t.Helper()
	set := token.NewFileSet()
	for _, folder := range []string{"cmd", "console", "internal", "state", "sync", "trade"} {
		must.Do(t, fs.WalkDir(os.DirFS("../.."), folder, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			file := must.Get(parser.ParseFile(set, "../../"+name, nil, parser.SkipObjectResolution))(t)
			for _, decl := range file.Decls {
				said := saidIn{
					set.Position(decl.Pos()).String(),
					map[string]map[string]bool{},
					map[string]bool{},
					map[string]bool{},
				}
				ast.Inspect(decl, func(n ast.Node) bool { said.add(n); return true })
				out = append(out, said)
			}
			return nil
		}))
	}
	return out
}

func (s *saidIn) add(n ast.Node) {
	if text, ok := literal(n); ok && i18n.Sentences.Has(text) && s.codes[text] == nil {
		s.codes[text] = nil // a code that is named apart from its call
	}
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return
	}
	name, names := "", s.more
	switch f := call.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	args := call.Args
	switch name {
	case "Say":
		if code, ok := literal(call.Args[0]); ok {
			if s.codes[code] == nil {
				s.codes[code] = map[string]bool{}
			}
			names = s.codes[code]
		}
		args = args[1:]
	case "With":
	default:
		return
	}
	for i := 0; i < len(args); i += 2 {
		if text, ok := literal(args[i]); ok {
			names[text], s.all[text] = true, true
		}
	}
}

func literal(n ast.Node) (string, bool) {
	l, ok := n.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(l.Value)
	return text, err == nil
}

// stopCodes returns the codes of stops, which have sentences of their own.
func stopCodes(t *testing.T) []string {
	t.Helper()
	source := must.Get(os.ReadFile("../../sync/outcome/stop.go"))(t)
	var codes []string
	for _, m := range regexp.MustCompile(`StopCode = "([a-z_]+)"`).FindAllStringSubmatch(string(source), -1) {
		codes = append(codes, m[1])
	}
	if len(codes) < 10 {
		t.Fatalf("only %d codes were found: does the test still read them?", len(codes))
	}
	return codes
}

func TestEveryCodeHasASentenceWhoseHolesAreFilled(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, code := range stopCodes(t) {
		used["stop."+code] = true
		if !i18n.Sentences.Has("stop." + code) {
			t.Errorf("stop code %s has no sentence", code)
		}
	}
	found := 0
	for _, said := range sayings(t) {
		for code, names := range said.codes {
			found++
			used[code] = true
			for _, lang := range []trade.Lang{trade.Portuguese, trade.English} {
				form := i18n.Sentences.Find(lang, code)
				if form == "" {
					t.Errorf("%s: code %q has no sentence in %s", said.at, code, lang)
				}
				for _, m := range hole.FindAllStringSubmatch(form, -1) {
					if !names[m[1]] && !said.more[m[1]] && (names != nil || !said.all[m[1]]) {
						t.Errorf("%s: nothing fills {%s} of %q in %s", said.at, m[1], code, lang)
					}
				}
			}
		}
	}
	if found < 50 {
		t.Errorf("only %d codes were found: does the test still read them?", found)
	}
	for _, key := range i18n.Sentences.Names("") {
		form := key
		for _, suffix := range []string{".space", ".first", ".again"} {
			form = strings.TrimSuffix(form, suffix)
		}
		if !used[key] && !used[form] {
			t.Errorf("nothing says %q", key)
		}
	}
}

// A sentence takes values of every kind; a form tells how a hole is filled.
func TestEveryCodeIsToldInBothLanguagesWithValuesOfEveryKind(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 7, 15, 4, 0, 0, time.UTC)
	zone := time.FixedZone("", -3*60*60)
	kinds := map[string]any{
		"text": "C-01", "number": 1250, "one": 1, "decimal": must.Get(trade.ParseDecimal("-0.5"))(t),
		"list": []string{"01|7", "01|8"}, "sentence": trade.Say("freight.rows", "rows", 2),
		"sentences": []trade.Sentence{trade.Say("freight.rows", "rows", 2)}, "moment": at,
		"day": trade.DateOf(at), "duration": 90 * time.Second, "state": trade.Held,
	}
	for _, key := range i18n.Sentences.Names("") {
		for kind, value := range kinds {
			s := trade.Say(key)
			for _, lang := range []trade.Lang{trade.Portuguese, trade.English} {
				for _, m := range hole.FindAllStringSubmatch(i18n.Sentences.Text(lang, key), -1) {
					s = s.With(m[1], value)
				}
			}
			for _, lang := range []trade.Lang{trade.Portuguese, trade.English} {
				told := s.In(lang, zone)
				if told == "" || strings.ContainsAny(told, "{}") || strings.Contains(told, "%!") {
					t.Errorf("%s with a %s in %s: %q", key, kind, lang, told)
				}
				if lang == trade.Portuguese && english.Lines(told) != nil {
					t.Errorf("%s is in English: %q", key, told)
				}
			}
		}
	}
}

func TestASentenceIsToldInTheReadersFormAndKeepsItsValuesWhenStored(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", -3*60*60)
	for want, s := range map[[2]string]trade.Sentence{
		{"1 linha", "1 row"}:           trade.Say("freight.rows", "rows", 1),
		{"1.250 linhas", "1,250 rows"}: trade.Say("freight.rows", "rows", 1250),
		{"BRL -1.000,5", "BRL -1,000.5"}: trade.Say(
			"freight.value", "currency", "BRL", "value", must.Get(trade.ParseDecimal("-1000.5"))(t)),
		{"chave filial, num, tabelas ct", "key filial, num, tables ct"}: trade.Identity{
			Key: []string{"filial", "num"}, Tables: []string{"ct"},
		}.Sentence(),
		{"BRL 1 linha", "BRL 1 row"}: trade.Say(
			"freight.value", "currency", "BRL", "value", trade.Say("freight.rows", "rows", 1)),
		{
			"a API pediu para esperar; a próxima execução continua",
			"the API asks to wait until 2026-11-07 12:04; the rows go after that",
		}: trade.Say("stop.api_throttled", "until", time.Date(2026, 11, 7, 15, 4, 0, 0, time.UTC)),
	} {
		var stored trade.Sentence
		must.Do(t, json.Unmarshal(must.Get(json.Marshal(s))(t), &stored))
		if !reflect.DeepEqual(s, stored) {
			t.Errorf("%#v is stored as %#v", s, stored)
		}
		if pt, en := stored.In(trade.Portuguese, zone), stored.In(trade.English, zone); pt != want[0] || en != want[1] {
			t.Errorf("%s is told as %q and %q, want %q", s.Code, pt, en, want)
		}
	}
}

func TestASentenceOfAnotherVersionIsToldAsSuch(t *testing.T) {
	t.Parallel()
	const unknown = "um motivo que esta versão do safrasync não conhece"
	for machine, s := range map[string]trade.Sentence{
		`stop.refusals.novo {"count":3}`:         trade.Say("stop.refusals.novo", "count", 3),
		`stop.in_doubt.row {"requests":3}`:       trade.Say("stop.in_doubt.row", "requests", 3),
		`stop.lease.unsure {"reason":"a fault"}`: trade.Say("stop.lease.unsure", "reason", "a fault"),
	} {
		if got := s.String(); got != machine {
			t.Errorf("a log says %q, want %q", got, machine)
		}
		if got := s.In(trade.Portuguese, time.UTC); got != unknown || s.Known(trade.Portuguese) {
			t.Errorf("people read %q", got)
		}
		pt := Voice{Lang: trade.Portuguese, Zone: time.UTC}
		if got := pt.Stop(trade.Stop{Code: "lease", Why: s}); got != "outro processo assumiu esta rotina" {
			t.Errorf("of a known stop people read %q", got)
		}
		if got := pt.Stop(trade.Stop{Code: "new_kind", Why: s}); got != unknown {
			t.Errorf("of an unknown stop people read %q", got)
		}
	}
}

func TestABrakeHasOnlyTheArgumentsOfItsSentence(t *testing.T) {
	t.Parallel()
	s := trade.Stop{Code: "brake_canary", Brake: &trade.Brake{Job: "contracts", Rows: 1}}
	if names := slices.Sorted(maps.Keys(s.Sentence().Args)); !slices.Equal(names, []string{"examples", "job", "rows"}) {
		t.Errorf("%q", names)
	}
	if told := s.Sentence().In(trade.Portuguese, time.UTC); strings.Contains(told, "exemplo") {
		t.Errorf("without an example: %q", told)
	}
	s.Brake.Samples = []string{"01|7", "01|8"}
	if told := s.Sentence().In(trade.Portuguese, time.UTC); !strings.Contains(told, "agora; por exemplo 01|7, 01|8. ") {
		t.Errorf("%q", told)
	}
}
