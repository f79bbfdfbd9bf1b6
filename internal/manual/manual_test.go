package manual

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

const root = "../.."

// pages are those of docs/, each for one reader; two more are a page each of the architecture.
var pages = []string{
	"architecture.md", "concepts.md", "concepts.pt-BR.md", "configuration.md", "configuration.pt-BR.md",
	"decisions.pt-BR.md", "erp.md", "erp.pt-BR.md", "events.md", "events.pt-BR.md",
	"install.md", "install.pt-BR.md", "json.md",
	"ledger-sql.pt-BR.md", "operation.md", "operation.pt-BR.md", "recipes.pt-BR.md",
	"reconciliation.md", "recovery.pt-BR.md",
	"versions.pt-BR.md", "webhooks.pt-BR.md",
}

// The most lines of single pages, of all in English, and of all in Portuguese; the most columns of a
// line of prose, and of a row of a table. The same text is longer in Portuguese.
const (
	mostLines      = 1509
	mostPTLines    = 2082
	mostColumns    = 160
	mostTableRow   = 240
	mostPTTableRow = 300
)

var most = map[string]int{"concepts.md": 150, "performance.md": 80, "reliability.md": 80}

func read(t *testing.T, name string) string {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join(root, name)))(t)
	return string(text)
}

// files are the files of the project whose name the function takes, by their path from the root.
func files(t *testing.T, takes func(name string) bool) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		rel = filepath.ToSlash(rel)
		if d.IsDir() && slices.Contains([]string{".git", "bin", "dist", "node_modules", "fuzz", "vendor", "manual"},
			d.Name()) {
			return filepath.SkipDir
		}
		if d.Type().IsRegular() && takes(rel) {
			out = append(out, rel)
		}
		return err
	})
	if err != nil || len(out) == 0 {
		t.Fatalf("%d files, %v", len(out), err)
	}
	return out
}

func markdown(name string) bool { return strings.HasSuffix(name, ".md") }

// prose is a page without its blocks of code: what stands in them is left empty, so that lines keep
// their numbers.
func prose(text string) []string {
	lines := strings.Split(text, "\n")
	code := false
	for i, line := range lines {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if code || fence || strings.HasPrefix(line, "    ") {
			lines[i] = ""
		}
		code = code != fence
	}
	return lines
}

// anchors are the places of a page that a link can name, as GitHub forms them of its headings.
func anchors(text string) []string {
	var out []string
	for _, line := range prose(text) {
		title := strings.TrimLeft(line, "#")
		if title == line || !strings.HasPrefix(title, " ") {
			continue
		}
		slug := strings.Map(func(r rune) rune {
			switch {
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			case r == ' ':
				return '-'
			}
			return -1
		}, strings.TrimSpace(title))
		out = append(out, slug)
	}
	return out
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

func TestEveryLinkOfTheDocumentsLeadsToAPlaceThatExists(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, page := range files(t, markdown) {
		text := read(t, page)
		for i, line := range prose(text) {
			for _, m := range link.FindAllStringSubmatch(line, -1) {
				target, anchor, _ := strings.Cut(m[1], "#")
				if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
					continue
				}
				seen++
				there := page
				if target != "" {
					there = path.Join(path.Dir(page), target)
				}
				info, err := os.Stat(filepath.Join(root, there))
				if err != nil {
					t.Errorf("%s:%d: the link %s leads nowhere", page, i+1, m[1])
					continue
				}
				if anchor != "" && (info.IsDir() || !slices.Contains(anchors(read(t, there)), anchor)) {
					t.Errorf("%s:%d: %s has no heading for the link %s", page, i+1, there, m[1])
				}
			}
		}
	}
	if seen < 50 {
		t.Errorf("the documents have %d links", seen)
	}
}

var (
	mention   = regexp.MustCompile(`(?:^|[^\w./-])((?:\.\./)*docs/[\w./-]*\w)`)
	installed = regexp.MustCompile(`/usr/share/doc/safrasync/([\w.-]+\.md)`)
	beside    = regexp.MustCompile(`(?:^|[^\w./-])([a-z][\w-]*(?:\.pt-BR)?\.md)\b`)
)

// mentions are files whose texts name documents: code, messages, configurations, units, scripts,
// templates.
func mentions(name string) bool {
	switch path.Ext(name) {
	case ".go", ".json", ".yaml", ".yml", ".service", ".timer", ".conf", ".sql", ".txtar", ".html", ".sh", ".mk", ".md":
		return true
	}
	return path.Base(name) == "Makefile" || strings.HasPrefix(name, "deploy/") || strings.HasPrefix(name, ".ci/")
}

func TestEveryMentionOfADocumentIsOfOneThatExists(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, name := range files(t, mentions) {
		raw := []byte(read(t, name))
		if bytes.IndexByte(raw, 0) >= 0 {
			continue
		}
		for i, line := range strings.Split(string(raw), "\n") {
			for _, m := range mention.FindAllStringSubmatch(line, -1) {
				seen++
				if _, err := os.Stat(filepath.Join(root, strings.TrimLeft(m[1], "./"))); err != nil {
					t.Errorf("%s:%d: there is no %s", name, i+1, m[1])
				}
			}
			for _, m := range installed.FindAllStringSubmatch(line, -1) {
				if _, err := os.Stat(filepath.Join(root, "docs", m[1])); err != nil {
					t.Errorf("%s:%d: the package has no %s", name, i+1, m[1])
				}
			}
			if !strings.HasPrefix(name, "deploy/") {
				continue
			}
			for _, m := range beside.FindAllStringSubmatch(line, -1) { // what units and scripts of the package name
				if _, err := os.Stat(filepath.Join(root, "docs", m[1])); err != nil {
					t.Errorf("%s:%d: there is no page %s", name, i+1, m[1])
				}
			}
		}
	}
	if seen < 50 {
		t.Errorf("%d mentions", seen)
	}
	if !strings.Contains(read(t, ".ci/package"), `docs/*.md "$doc/"`) {
		t.Error("the packages do not have all pages of docs/, to which their files refer")
	}
}

func TestThePagesAreFewAndShort(t *testing.T) {
	t.Parallel()
	found := must.Get(filepath.Glob(root + "/docs/*.md"))(t)
	var names []string
	sum, sumPT := 0, 0
	for _, file := range found {
		name := filepath.Base(file)
		if name != "performance.md" && name != "reliability.md" {
			names = append(names, name)
		}
		text := read(t, "docs/"+name)
		n := strings.Count(text, "\n")
		row := mostTableRow
		if strings.HasSuffix(name, portuguese) {
			sumPT += n
			row = mostPTTableRow
		} else {
			sum += n
		}
		if most[name] > 0 && n > most[name] {
			t.Errorf("docs/%s has %d lines, want %d at most", name, n, most[name])
		}
		for i, line := range prose(text) {
			columns := mostColumns
			if strings.HasPrefix(line, "|") {
				columns = row
			}
			if n := utf8.RuneCountInString(line); n > columns {
				t.Errorf("docs/%s:%d has %d columns, want %d at most", name, i+1, n, columns)
			}
		}
	}
	if diff := cmp.Diff(pages, names); diff != "" {
		t.Errorf("the pages (-want +got):\n%s", diff)
	}
	if sum > mostLines || sumPT > mostPTLines {
		t.Errorf("docs/*.md have %d lines in English and %d in Portuguese, want %d and %d at most",
			sum, sumPT, mostLines, mostPTLines)
	}
	if n := strings.Count(read(t, "README.md"), "\n"); n > 60 {
		t.Errorf("README.md has %d lines", n)
	}
	log := read(t, "CHANGELOG.md")
	if !strings.HasPrefix(log, "## 1.0.0 (unreleased)\n") {
		t.Errorf("CHANGELOG.md begins with %.40q", log)
	}
}

// The table of the states is that of the program, in its order.
func TestTheTableOfStatesIsTheProgramsTable(t *testing.T) {
	t.Parallel()
	got := map[trade.State][]trade.State{}
	var order []trade.State
	row := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([^|]+) \\| [^|]+ \\| ([a-z_, –]+) \\|$")
	for _, m := range row.FindAllStringSubmatch(read(t, "docs/concepts.md"), -1) {
		state := trade.State(m[1])
		order = append(order, state)
		got[state] = []trade.State{}
		for _, name := range strings.Split(m[3], ", ") {
			if name != "–" {
				got[state] = append(got[state], trade.State(name))
			}
		}
		if label := state.Label(trade.Portuguese); !strings.HasPrefix(label, m[2]) {
			t.Errorf("%s is %q in the table, and %q on screens", state, m[2], label)
		}
	}
	want := map[trade.State][]trade.State{}
	for from, to := range trade.Moves {
		if from != "" {
			want[from] = to
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the moves (-trade.Moves +docs/concepts.md):\n%s", diff)
	}
	if diff := cmp.Diff(trade.States, order); diff != "" {
		t.Errorf("the order (-trade.States +docs/concepts.md):\n%s", diff)
	}
	// The picture shows moves of the table only.
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z_]+|\[\*\]) --> ([a-z_]+):`).FindAllStringSubmatch(read(t,
		"docs/concepts.md"), -1) {
		from := trade.State(strings.Trim(m[1], "[*]"))
		if !slices.Contains(trade.Moves[from], trade.State(m[2])) {
			t.Errorf("the picture moves %s to %s", m[1], m[2])
		}
	}
}

func TestStatesFlagsAndCausesAreNamedWhereTheyAreExplained(t *testing.T) {
	t.Parallel()
	var states, flags []string
	for _, s := range trade.States {
		states = append(states, string(s))
	}
	for _, f := range trade.AllFlags {
		flags = append(flags, string(f))
	}
	causes := []string{
		trade.CauseParent, trade.CauseDuplicateKey, trade.CauseRetyped, trade.CauseTwin, trade.CauseOtherJob,
		trade.CauseVanished, trade.CauseExists,
		trade.CauseDeleted, trade.CauseReplaced, trade.CauseUnknown,
	}
	for page, words := range map[string][]string{
		"concepts.md": slices.Concat(states, flags),
		"json.md":     slices.Concat(states, flags, causes),
	} {
		text := read(t, "docs/"+page)
		for _, word := range words {
			if !strings.Contains(text, "`"+word+"`") {
				t.Errorf("docs/%s does not name %s", page, word)
			}
		}
	}
}

// The tables of the API's fields are those of the rules, so that a first configuration can be written
// from the page alone.
func TestTheFieldsOfThePageAreThoseOfTheRules(t *testing.T) {
	t.Parallel()
	for page, words := range map[string]map[trade.Need]string{
		"docs/configuration.md":       {trade.Always: "always", trade.ForCompra: "of COMPRA", trade.Optional: "no"},
		"docs/configuration.pt-BR.md": {trade.Always: "sempre", trade.ForCompra: "em COMPRA", trade.Optional: "não"},
	} {
		text := read(t, page)
		for _, kind := range trade.Kinds {
			for need, word := range words {
				var fields []string
				for _, rule := range trade.Rules(kind) {
					if rule.Need == need {
						fields = append(fields, "`"+rule.Field+"`")
					}
				}
				line := "| `" + string(kind) + "` | " + word + " | " + strings.Join(fields, ", ")
				if len(fields) > 0 && !strings.Contains(text, line) {
					t.Errorf("%s lacks the line %s", page, line)
				}
			}
		}
	}
}
