package limits

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
)

// unwatched names the folders that do several things at once and whose tests run without the race
// detector, each with the reason.
var unwatched = map[string]string{
	"console/view":  "templates are read once, and the packages of the console read them under the detector",
	"internal/i18n": "words are read once, and each package that speaks reads them under the detector",
	"trade":         "tables are made once, and each package of the engine makes them under the detector",
}

// onlyForTests are folders that only tests use, most of them under the race detector. Their own
// tests are about servers and files.
var onlyForTests = regexp.MustCompile(`^(internal/(apidoc|consoletest|ledgertest|oidctest|pgtest|sickdisk|throwaway|torture)|erp/erptest)$`)

// A package that starts goroutines, or guards what several of them use, is tested with the race
// detector.
func TestWhatRunsAtOnceIsWatched(t *testing.T) {
	t.Parallel()
	makefile := string(must.Get(os.ReadFile("../../Makefile"))(t))
	_, list, _ := strings.Cut(strings.ReplaceAll(makefile, "\\\n", " "), "\nWATCHED := ")
	list, _, _ = strings.Cut(list, "\n")
	patterns := strings.Fields(list)
	if len(patterns) == 0 {
		t.Fatal("the Makefile has no WATCHED")
	}
	left := map[string]bool{}
	for name, source := range readRepository(t, ".go") {
		if folder := path.Dir(name); atOnce(t, source) && !onlyForTests.MatchString(folder) &&
			!slices.ContainsFunc(patterns, func(p string) bool { return matches(p, folder) }) {
			left[folder] = true
		}
	}
	for folder := range left {
		if unwatched[folder] == "" {
			t.Errorf("%s does several things at once: add it to WATCHED in the Makefile", folder)
		}
	}
	for folder := range unwatched {
		if !left[folder] {
			t.Errorf("%s needs no exception any more: take it out", folder)
		}
	}
}

// matches reports whether a pattern of the Go command, as "./sync/...", has a folder.
func matches(pattern, folder string) bool {
	pattern = strings.TrimPrefix(pattern, "./")
	whole, below := strings.CutSuffix(pattern, "/...")
	return folder == whole || below && strings.HasPrefix(folder, whole+"/")
}

// atOnce reports whether a file starts a goroutine, or imports what guards against them.
func atOnce(t *testing.T, source string) bool {
	t.Helper()
	file := must.Get(parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution))(t)
	for _, i := range file.Imports {
		if i.Path.Value == `"sync"` || i.Path.Value == `"sync/atomic"` || strings.HasPrefix(i.Path.Value, `"golang.org/x/sync`) {
			return true
		}
	}
	found := false
	ast.Inspect(file, func(n ast.Node) bool {
		_, is := n.(*ast.GoStmt)
		found = found || is
		return true
	})
	return found
}

func TestWhatIsAtOnce(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]bool{
		"package p\nimport \"sync\"": true, "package p\nimport \"golang.org/x/sync/errgroup\"": true,
		"package p\nfunc f() { if true { go f() } }": true, "package p\nfunc f() { f() } // go f()": false,
	} {
		if got := atOnce(t, source); got != want {
			t.Errorf("%q: %t, want %t", source, got, want)
		}
	}
	if !matches("./sync/...", "sync/run") || !matches("./sync/...", "sync") || matches("./sync", "sync/run") ||
		matches("./sync/...", "syncing") {
		t.Error("patterns match the wrong folders")
	}
}
