package limits

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
)

// Of a thousand lines of the files of tests, at most so many are helpers. The number may only get
// smaller.
const helpersMost = 150

// slack is how far below the limit the measure may be before the limit must be lowered, so that not
// each new test changes it.
const slack = 10

func TestHelpersAreAFewOfTheLinesOfTests(t *testing.T) {
	t.Parallel()
	helpers, lines := 0, 0
	must.Do(t, filepath.WalkDir(filepath.Join("..", ".."), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n, err := helperLines(source)
		helpers, lines = helpers+n, lines+bytes.Count(source, []byte("\n"))
		return err
	}))
	t.Logf("%d of %d lines of the files of tests are helpers", helpers, lines)
	switch share := helpers * 1000 / max(lines, 1); {
	case lines < 10_000:
		t.Fatalf("%d lines were found: the test looks at the wrong folder", lines)
	case share > helpersMost:
		t.Errorf("%d of a thousand lines of tests are helpers, at most %d are allowed: use one that exists",
			share, helpersMost)
	case share < helpersMost-slack:
		t.Errorf("%d of a thousand lines of tests are helpers: lower the limit, which is %d", share, helpersMost)
	}
}

func TestHelpersAreFunctionsThatAreNoTestsAndTypes(t *testing.T) {
	t.Parallel()
	got, err := helperLines([]byte(`package p
import "testing"
type world struct {
	t *testing.T
}
func (w *world) TestOf() {
}
func TestMain(m *testing.M) {
	m.Run()
}
func TestingHelper() { }
func BenchmarkA(b *testing.B) {
}
func FuzzA(f *testing.F) {
}
func Example() {
}
var table = []int{
	1,
}
`))
	if err != nil || got != 3+2+1 {
		t.Errorf("%d lines, want 6: %v", got, err)
	}
}

// helperLines counts the lines of functions and methods that go test does not call, and of types.
func helperLines(source []byte) (int, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", source, parser.SkipObjectResolution)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && called(d.Name.Name) {
				continue
			}
		case *ast.GenDecl:
			if d.Tok != token.TYPE {
				continue
			}
		}
		n += set.Position(d.End()).Line - set.Position(d.Pos()).Line + 1
	}
	return n, nil
}

// called reports whether go test calls a function of this name.
func called(name string) bool {
	for _, prefix := range []string{"Test", "Benchmark", "Fuzz", "Example"} {
		rest, ok := strings.CutPrefix(name, prefix)
		if ok && (rest == "" || strings.ToLower(rest[:1]) != rest[:1] || rest[0] == '_') {
			return true
		}
	}
	return false
}
