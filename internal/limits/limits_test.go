package limits

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
)

const (
	// productMost is the number of lines of product code, without comments and blank lines: of the
	// packages of which the program consists. Those that only tests import are no part of it. It
	// falls with each stage of the work; whoever raises it gives the reason in the commit.
	productMost = 99_052
	// productSlack is how far below productMost the product may be before the number must be
	// lowered, so that not each removed line changes it.
	productSlack = 1_000
	// functionMost is the number of lines of a function that is no exception.
	functionMost = 60
)

func TestTheProductDoesNotGrow(t *testing.T) {
	t.Parallel()
	lines, helpers := 0, 0
	sources := readRepository(t)
	inProgram := reached(t, sources, "cmd/safrasync")
	for name, source := range sources {
		if inProgram[path.Dir(name)] {
			lines += codeLines(source)
		} else {
			helpers += codeLines(source)
		}
	}
	t.Logf("the product has %d lines of code, the helpers of its tests have %d", lines, helpers)
	switch {
	case lines < 10_000:
		t.Fatalf("%d lines were found: the test looks at the wrong folder", lines)
	case lines > productMost:
		t.Errorf("the product has %d lines of code, at most %d are allowed", lines, productMost)
	case lines < productMost-productSlack:
		t.Errorf("the product has %d lines of code: lower the limit, which is %d", lines, productMost)
	}
}

// reached returns the folders that the program consists of: that of its main package, and what they
// import. The others are helpers of tests.
func reached(t *testing.T, sources map[string]string, folder string) map[string]bool {
	t.Helper()
	imports := map[string][]string{}
	for name, source := range sources {
		file := must.Get(parser.ParseFile(token.NewFileSet(), name, source, parser.ImportsOnly))(t)
		for _, spec := range file.Imports {
			if ours, ok := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), "github.com/safrasync/safrasync/"); ok {
				imports[path.Dir(name)] = append(imports[path.Dir(name)], ours)
			}
		}
	}
	out, next := map[string]bool{}, []string{folder}
	for len(next) > 0 {
		at := next[0]
		next = next[1:]
		if !out[at] {
			out[at] = true
			next = append(next, imports[at]...)
		}
	}
	return out
}

func TestWhatTheProgramImportsIsTheProduct(t *testing.T) {
	t.Parallel()
	imports := func(of string) string { return `package p; import "github.com/safrasync/safrasync/` + of + `"` }
	got := reached(t, map[string]string{
		"main/a.go": imports("a"), "a/a.go": imports("b"), "b/b.go": imports("a"), "helper/h.go": imports("b"),
	}, "main")
	if want := []string{"a", "b", "main"}; !slices.Equal(slices.Sorted(maps.Keys(got)), want) {
		t.Errorf("the product is %v, want %v", got, want)
	}
}

func TestFunctionsAreShortOrHaveAReason(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for name, source := range readRepository(t) {
		for function, lines := range functionLines(t, path.Dir(name), source) {
			if lines <= functionMost {
				continue
			}
			used[function] = true
			if e := exceptions[function]; lines > e.lines {
				t.Errorf("%s has %d lines, at most %d are allowed", function, lines, max(e.lines, functionMost))
			}
		}
	}
	for function, e := range exceptions {
		if !used[function] {
			t.Errorf("%q needs no exception any more: take it out", function)
		}
		if e.reason == "" {
			t.Errorf("the exception of %q gives no reason", function)
		}
	}
}

// sameNameMost is how many packages may have an exported type of one name: a name that many have says
// nothing where it is read.
const sameNameMost = 3

func TestATypesNameSaysWhatItIs(t *testing.T) {
	t.Parallel()
	packages := map[string]map[string]bool{}
	sources := readRepository(t)
	inProgram := reached(t, sources, "cmd/safrasync")
	for name, source := range sources {
		folder := path.Dir(name)
		if !inProgram[folder] {
			continue
		}
		for _, typ := range exportedTypes(t, source) {
			if packages[typ] == nil {
				packages[typ] = map[string]bool{}
			}
			packages[typ][folder] = true
		}
	}
	for typ, folders := range packages {
		if len(folders) > sameNameMost {
			t.Errorf("%d packages have a type %s, at most %d may: %s", len(folders), typ, sameNameMost,
				strings.Join(slices.Sorted(maps.Keys(folders)), ", "))
		}
	}
	if got := exportedTypes(t, "package p\ntype A struct{}\ntype (\n\tB = q.B\n\tC = q.D\n\tb int\n)\n"); !slices.Equal(got,
		[]string{"A", "C"}) {
		t.Errorf("the exported types of an example are %q", got)
	}
}

// exportedTypes returns the exported types of a file. An alias that has the name of its type is no type
// of its own.
func exportedTypes(t *testing.T, source string) (out []string) {
	t.Helper()
	file := must.Get(parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution))(t)
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range g.Specs {
			typ, ok := spec.(*ast.TypeSpec)
			if !ok || !typ.Name.IsExported() {
				continue
			}
			of, qualified := typ.Type.(*ast.SelectorExpr)
			if !typ.Assign.IsValid() || !qualified || of.Sel.Name != typ.Name.Name {
				out = append(out, typ.Name.Name)
			}
		}
	}
	return out
}

func TestWhatIsMeasured(t *testing.T) {
	t.Parallel()
	source := `// Package p is an example.
package p

type S struct{ a int } // a line of code

// One does nothing.
func (s *S) One() {}

func Two[T any]() {
	_ = 1
}
`
	if got := codeLines(source); got != 6 {
		t.Errorf("%d lines of code, want 6", got)
	}
	got := functionLines(t, "p", source)
	if len(got) != 2 || got["p.S.One"] != 0 || got["p.Two"] != 1 {
		t.Errorf("functions: %v", got)
	}
}

// elsewhere are folders that are no part of the product.
var elsewhere = regexp.MustCompile(`^(?:.*/)?(?:\.[^/]+|tools|testdata|node_modules)/`)

// readRepository returns the text of each Go file of the product by its name.
func readRepository(t *testing.T) map[string]string {
	t.Helper()
	root := os.DirFS("../..")
	sources := map[string]string{}
	must.Do(t, fs.WalkDir(root, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || elsewhere.MatchString(name) {
			return err
		}
		sources[name] = string(must.Get(fs.ReadFile(root, name))(t))
		return nil
	}))
	return sources
}

// codeLines counts the lines that are neither blank nor only a comment.
func codeLines(source string) int {
	n := 0
	for line := range strings.Lines(source) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "//") {
			n++
		}
	}
	return n
}

// functionLines returns the lines between the braces of each function of a file.
func functionLines(t *testing.T, folder, source string) map[string]int {
	t.Helper()
	set := token.NewFileSet()
	file := must.Get(parser.ParseFile(set, folder, source, parser.SkipObjectResolution))(t)
	lines := map[string]int{}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		name := f.Name.Name
		if f.Recv != nil {
			of, _, _ := strings.Cut(strings.TrimPrefix(types.ExprString(f.Recv.List[0].Type), "*"), "[")
			name = of + "." + name
		}
		lines[fmt.Sprintf("%s.%s", folder, name)] = max(set.Position(f.End()).Line-set.Position(f.Pos()).Line-1, 0)
	}
	return lines
}
