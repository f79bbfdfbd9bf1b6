package manual

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/english"
	"github.com/safrasync/safrasync/internal/must"
)

const portuguese = ".pt-BR.md"

// whatToDo ends each message: who changes one page must know that there are two.
const whatToDo = "write what changed in one language in the other as well, in the same commit"

// twins are the pages that stand in both languages, by the name of the English one.
func twins(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, file := range must.Get(filepath.Glob(root + "/docs/*" + portuguese))(t) {
		english := strings.TrimSuffix(filepath.Base(file), portuguese) + ".md"
		if _, err := os.Stat(filepath.Join(root, "docs", english)); err == nil {
			out = append(out, english)
		}
	}
	return out
}

func portugueseOf(english string) string { return strings.TrimSuffix(english, ".md") + portuguese }

// block is a piece of a page: a heading, a paragraph, an item of a list, a row of a table, or a block of code.
type block struct {
	kind string
	line int
	text string
}

var listItem = regexp.MustCompile(`^(?:-|\d+\.) `)

// blocks are the pieces of a page, in their order.
func blocks(text string) []block {
	var out []block
	open := "" // the kind of block that the next line may continue
	fenced := false
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		kind := "paragraph"
		switch {
		case strings.HasPrefix(line, "```"):
			if fenced = !fenced; fenced {
				out = append(out, block{"code", i + 1, line + "\n"})
			}
			open = ""
			continue
		case fenced:
			out[len(out)-1].text += line + "\n"
			continue
		case strings.TrimSpace(line) == "":
			open = ""
			continue
		case strings.HasPrefix(line, "    "):
			kind = "code"
		case strings.HasPrefix(line, "#"):
			kind = "heading " + line[:strings.Index(line+" ", " ")]
		case strings.HasPrefix(line, "|"):
			kind = "row of a table"
		case listItem.MatchString(line):
			kind = "item of a list"
		}
		continues := open == kind && (kind == "paragraph" || kind == "code") ||
			kind == "paragraph" && open == "item of a list"
		if continues {
			out[len(out)-1].text += line + "\n"
			continue
		}
		out = append(out, block{kind, i + 1, line + "\n"})
		open = kind
	}
	return out
}

// placeholders are the words that a reader replaces in a command.
var placeholders = strings.NewReplacer("TEXTO", "TEXT", "CHAVE", "KEY", "ROTINA", "JOB", "ARQUIVO", "FILE",
	"NOME", "NAME", "CÓDIGO", "CODE", "PASTA", "DIR", "ANTIGA", "OLD", "NOVA", "NEW",
	"COLUNA", "COLUMN", "NÚMERO", "NUMBER", "TIPO", "KIND", "MÁQUINA", "HOST", "ZONA", "ZONE",
	"CAMINHO", "PATH", "EVENTO", "EVENT")

var (
	said      = regexp.MustCompile(`(\S)(?: {2,}|\s+(?:#|--) ).*$`)
	saidAlone = regexp.MustCompile(`^(\s*#).*$`)
)

// bare is code without what is said about it: comments, what stands behind two blanks, and the words
// of a picture.
func bare(code string) string {
	picture := strings.HasPrefix(code, "```mermaid")
	var out []string
	for line := range strings.Lines(code) {
		line = strings.TrimRight(line, "\n ")
		if picture {
			line, _, _ = strings.Cut(line, ": ")
		}
		line = saidAlone.ReplaceAllString(said.ReplaceAllString(line, "$1"), "$1")
		out = append(out, placeholders.Replace(line))
	}
	return strings.Join(out, "\n")
}

var (
	codeWord  = regexp.MustCompile("`([^`]+)`")
	figure    = regexp.MustCompile(`\d+(?:[.,:h]\d+)*`)
	clock     = regexp.MustCompile(`^0?(\d+)[:h](\d\d)$`)
	separator = strings.NewReplacer(".", "", ",", "")
)

// codeWords are the words in `code`, each once.
func codeWords(text string) []string {
	out := []string{}
	for _, m := range codeWord.FindAllStringSubmatch(strings.ReplaceAll(text, "\n", " "), -1) {
		out = append(out, placeholders.Replace(strings.Join(strings.Fields(m[1]), " ")))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// figures are the numbers outside of code and links, each once: 1,000 and 1.000 are the same.
func figures(text string) []string {
	out := []string{}
	text = link.ReplaceAllString(codeWord.ReplaceAllString(strings.ReplaceAll(text, "\n", " "), ""), "]")
	for _, n := range figure.FindAllString(text, -1) {
		if m := clock.FindStringSubmatch(n); m != nil {
			n = m[1] + ":" + m[2]
		}
		out = append(out, separator.Replace(n))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// places are where the links of a text of a page lead to, as one language or the other names it: a
// heading of a page that has both by its number. The link to the page's own twin is left out.
func places(t *testing.T, page, text string) []string {
	t.Helper()
	out := []string{}
	for _, m := range link.FindAllStringSubmatch(strings.ReplaceAll(text, "\n", " "), -1) {
		target, anchor, _ := strings.Cut(m[1], "#")
		if target == "" {
			target = page
		}
		english := target
		if strings.HasSuffix(target, portuguese) {
			english = strings.TrimSuffix(target, portuguese) + ".md"
		}
		if slices.Contains(twins(t), english) {
			if target != page && english == strings.Replace(page, portuguese, ".md", 1) {
				continue
			}
			if anchor != "" {
				anchor = strconv.Itoa(slices.Index(anchors(read(t, "docs/"+target)), anchor))
			}
			target = english
		}
		out = append(out, target+"#"+anchor)
	}
	slices.Sort(out)
	return out
}

// unlike says how two blocks, of which the second is in Portuguese, differ in what no translation
// changes, or returns nothing.
func unlike(t *testing.T, page string, en, pt block) string {
	t.Helper()
	if en.kind == "code" {
		return cmp.Diff(bare(en.text), bare(pt.text))
	}
	cells := func(b block) []string {
		if b.kind != "row of a table" {
			return []string{b.text}
		}
		return strings.Split(strings.ReplaceAll(b.text, `\|`, "\x00"), "|")
	}
	enCells, ptCells := cells(en), cells(pt)
	if len(enCells) != len(ptCells) {
		return fmt.Sprintf("%d cells, and %d in Portuguese", len(enCells)-2, len(ptCells)-2)
	}
	for i := range enCells {
		if diff := cmp.Diff(codeWords(enCells[i]), codeWords(ptCells[i])); diff != "" {
			return "words in `code`:\n" + diff
		}
		if diff := cmp.Diff(figures(enCells[i]), figures(ptCells[i])); diff != "" {
			return "numbers:\n" + diff
		}
		if diff := cmp.Diff(places(t, page, enCells[i]), places(t, portugueseOf(page), ptCells[i])); diff != "" {
			return "links:\n" + diff
		}
	}
	return ""
}

func TestThePagesInTwoLanguagesSayTheSame(t *testing.T) {
	t.Parallel()
	if len(twins(t)) < 1 {
		t.Fatal("no page stands in both languages")
	}
	for _, page := range twins(t) {
		en, pt := blocks(read(t, "docs/"+page)), blocks(read(t, "docs/"+portugueseOf(page)))
		for i := range max(len(en), len(pt)) {
			if i >= len(en) || i >= len(pt) || en[i].kind != pt[i].kind {
				here := func(name string, all []block) string {
					if i >= len(all) {
						return "docs/" + name + " has ended"
					}
					return fmt.Sprintf("docs/%s:%d is a %s", name, all[i].line, all[i].kind)
				}
				t.Errorf("%s, and %s: %s", here(page, en), here(portugueseOf(page), pt), whatToDo)
				break
			}
			if diff := unlike(t, page, en[i], pt[i]); diff != "" {
				t.Errorf("docs/%s:%d and docs/%s:%d differ: %s (-en +pt) %s", page, en[i].line, portugueseOf(page),
					pt[i].line, whatToDo, diff)
			}
		}
	}
}

// told returns the Portuguese texts of the catalogue: of each list the last.
func told(tree any) (out []string) {
	switch v := tree.(type) {
	case string:
		return []string{v}
	case []any:
		return told(v[len(v)-1])
	case map[string]any:
		for _, value := range v {
			out = append(out, told(value)...)
		}
	}
	return out
}

// At the head each page leads to the same page in the other language; from there a reader stays in
// the own one.
func TestAReaderStaysInOneLanguage(t *testing.T) {
	t.Parallel()
	for _, page := range twins(t) {
		for name, other := range map[string]string{page: portugueseOf(page), portugueseOf(page): page} {
			if all := blocks(read(t, "docs/"+name)); len(all) < 2 || !strings.Contains(all[1].text, "]("+other+")") {
				t.Errorf("docs/%s: its first paragraph has no link to %s", name, other)
			}
		}
	}
	var catalogue any
	must.Do(t, json.Unmarshal([]byte(read(t, "internal/i18n/pt-BR.json")), &catalogue))
	for _, text := range told(catalogue) {
		for _, m := range mention.FindAllStringSubmatch(text, -1) {
			if page := path.Base(m[1]); slices.Contains(twins(t), page) {
				t.Errorf("internal/i18n/pt-BR.json names %s: there is %s", m[1], portugueseOf(page))
			}
		}
	}
	for _, file := range must.Get(filepath.Glob(root + "/docs/*" + portuguese))(t) {
		name := filepath.Base(file)
		text, _, _ := strings.Cut(read(t, "docs/"+name), "\n## In English\n")
		for i, b := range blocks(text) {
			for _, m := range link.FindAllStringSubmatch(b.text, -1) {
				target, _, _ := strings.Cut(path.Clean(m[1]), "#")
				head := i == 1 && portugueseOf(target) == name
				if !head && slices.Contains(twins(t), target) && b.kind != "code" {
					t.Errorf("docs/%s:%d leads to the English %s: there is %s", name, b.line, target, portugueseOf(target))
				}
			}
		}
	}
}

// Nobody has to know English to read a Portuguese page: outside of code it has none.
func TestPortuguesePagesHaveNoEnglishInThem(t *testing.T) {
	t.Parallel()
	for _, file := range must.Get(filepath.Glob(root + "/docs/*" + portuguese))(t) {
		name := filepath.Base(file)
		text, _, _ := strings.Cut(read(t, "docs/"+name), "\n## In English\n")
		text = link.ReplaceAllString(codeWord.ReplaceAllString(strings.Join(prose(text), "\n"), "x"), "]")
		for _, line := range english.Lines(strings.Replace(text, "[at the end]", "", 1)) {
			t.Errorf("docs/%s has English in it: %s", name, line)
		}
	}
}

func TestWhatDiffersBetweenTwoLanguagesIsFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ en, pt, differs string }{
		{"Waits `5m`, 1,000 rows, at 02:30.\n", "Espera `5m`, 1.000 linhas, às 2h30.\n", ""},
		{"Waits `5m`.\n", "Espera `6m`.\n", "words"},
		{"Waits 30 s.\n", "Espera 20 s.\n", "numbers"},
		{"| `a` | `b` |\n", "| `b` | `a` |\n", "words"},
		{"| a | b |\n", "| a |\n", "cells"},
		{"See [x](../README.md).\n", "Veja.\n", "links"},
		{"    safrasync why JOB KEY     tells why\n", "    safrasync why ROTINA CHAVE    diz por quê\n", ""},
		{"    safrasync why JOB KEY\n", "    safrasync why ROTINA\n", "why"},
		{"```yaml\na: 1 # one\n```\n", "```yaml\na: 1 # um\n```\n", ""},
		{"```yaml\na: 1 # one\n```\n", "```yaml\na: 2 # um\n```\n", "a: "},
		{"```mermaid\na --> b: one\n```\n", "```mermaid\na --> b: um\n```\n", ""},
	} {
		got := unlike(t, "install.md", blocks(c.en)[0], blocks(c.pt)[0])
		if (c.differs == "") != (got == "") || !strings.Contains(got, c.differs) {
			t.Errorf("%q and %q: %q, want %q", c.en, c.pt, got, c.differs)
		}
	}
	var kinds []string
	for _, b := range blocks("# A\ntext\ntext\n- item\n  more\n1. item\n\n    code\n    code\n| a |\n|---|\n```\n# x\n```\nend\n") {
		kinds = append(kinds, b.kind)
	}
	want := []string{
		"heading #", "paragraph", "item of a list", "item of a list", "code", "row of a table",
		"row of a table", "code", "paragraph",
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
}
