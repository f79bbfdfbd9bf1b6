package alert

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/trade"
)

var verb = regexp.MustCompile(`%(\[\d+\])?[+#]?[a-z]|%%|\{[a-z]+\}`)

func TestEveryPhraseIsThereInBothLanguagesWithTheSameVerbs(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("words*.go")
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			c, ok := n.(*ast.CompositeLit)
			if !ok || len(c.Elts) != 2 {
				return true
			}
			var pair [2]string
			for i, e := range c.Elts {
				l, ok := e.(*ast.BasicLit)
				if !ok {
					return true
				}
				if pair[i], err = strconv.Unquote(l.Value); err != nil {
					t.Fatal(err)
				}
			}
			total++
			if pair[0] == "" || pair[1] == "" || !slices.Equal(verb.FindAllString(pair[0], -1), verb.FindAllString(pair[1], -1)) {
				t.Errorf("%s: %q and %q differ in their verbs, or one is missing", file, pair[0], pair[1])
			}
			return true
		})
	}
	if total < 100 {
		t.Errorf("only %d phrases were found: does the test still read them?", total)
	}
}

func TestEveryReasonToStopHasWords(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../sync/stop.go")
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`stopCode = "([a-z_]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(codes) < 10 {
		t.Fatalf("only %d codes were found: does the test still read them?", len(codes))
	}
	for _, c := range codes {
		if trade.ExplainStop(c[1], trade.Portuguese).What == trade.ExplainStop("", trade.Portuguese).What && !slices.Contains(quietStops, c[1]) {
			t.Errorf("stop code %s has no words", c[1])
		}
	}
}

// Every alert says what happened, since when, what it means and what to do, in both languages, and leaves no verb unfilled.
func TestEveryAlertSaysAllFour(t *testing.T) {
	t.Parallel()
	job := Job{"contracts", trade.OrderCommitments, 0}
	for topic := range topics {
		for _, lang := range []trade.Lang{trade.Portuguese, trade.English} {
			v := voice{lang, saoPaulo, "safrasync"}
			d := Detail{Jobs: []Job{job}, Rows: 1, Limit: 20, Oldest: monday, Folder: "/var/lib/safrasync", Host: "srv1", Free: 100 << 20, Ends: monday, Late: 90}
			m := v.raised(condition{topic: topic, since: monday, detail: d})
			over := v.over(trade.Alert{Topic: string(topic), Since: monday, GoneAt: monday.Add(3e9)}, d)
			for _, text := range []string{m.Subject, m.text(), over.Subject, over.text()} {
				if strings.Contains(text, "%!") || strings.Contains(text, "%[") || strings.Contains(text, "%s") || strings.Contains(text, "{") {
					t.Errorf("%s in %s: %s", topic, lang, text)
				}
			}
			if len(m.Parts) != 4 {
				t.Errorf("%s in %s has %d parts, want what, since, meaning and what to do:\n%s", topic, lang, len(m.Parts), m.text())
			}
		}
	}
	for _, code := range slices.Concat(sharedStops, endedByPerson, []string{"references"}) {
		why := trade.ExplainStop(code, trade.Portuguese).What
		m := voice{trade.Portuguese, saoPaulo, "safrasync"}.raised(condition{topic: Stopped, since: monday, detail: Detail{Code: code, Jobs: []Job{job}, Rows: 3, Usual: 2}})
		if text := m.text(); strings.Contains(text, "{job}") || strings.Contains(text, "%!") || !strings.Contains(text, why) || len(m.Subject) > 160 {
			t.Errorf("%s: %s\n%s", code, m.Subject, text)
		}
	}
}
