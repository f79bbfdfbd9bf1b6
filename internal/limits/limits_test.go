package limits

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
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
	"unicode/utf8"

	"github.com/safrasync/safrasync/internal/must"
)

// mosts are the numbers of what a reader has to hold. After each stage of the work they are set to what
// is there; they are never raised: what is new pays with what goes.
var mosts = map[string]int{
	"lines of the product":  89_809,
	"tokens of the product": 701_931,
	"lines of catalogues":   5_020,
	"lines of SQL":          620,
	"lines of templates":    2_040,
	"columns of a template": 118,
}

// slack is how far below its most a number may be before the most must be lowered, in parts of a hundred,
// so that not each removed line changes it.
const slack = 100

// functionMost is the number of lines of a function, which may tell a story.
const functionMost = 120

func TestTheProductDoesNotGrow(t *testing.T) {
	t.Parallel()
	got := map[string]int{}
	sources := readRepository(t, ".go")
	inProgram := reached(t, sources, "cmd/safrasync")
	for name, source := range sources {
		if inProgram[path.Dir(name)] {
			got["lines of the product"] += codeLines(source)
			got["tokens of the product"] += tokens(source)
		}
	}
	for name, source := range readRepository(t, ".json", ".sql", ".html") {
		lines := strings.Count(source, "\n")
		switch {
		case strings.HasPrefix(name, "internal/i18n/"):
			got["lines of catalogues"] += lines
		case strings.Contains(name, "/migrations/"):
			got["lines of SQL"] += lines
		case strings.Contains(name, "/templates/"):
			got["lines of templates"] += lines
			for line := range strings.Lines(source) {
				got["columns of a template"] = max(got["columns of a template"], utf8.RuneCountInString(line)-1)
			}
		}
	}
	for what, most := range mosts {
		switch n := got[what]; {
		case n == 0:
			t.Fatalf("no %s were found: the test looks at the wrong folder", what)
		case n > most:
			t.Errorf("%d %s, at most %d are allowed", n, what, most)
		case n < most-most/slack:
			t.Errorf("%d %s: lower the limit, which is %d", n, what, most)
		}
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

func TestFunctionsAreShort(t *testing.T) {
	t.Parallel()
	for name, source := range readRepository(t, ".go") {
		for function, lines := range functionLines(t, path.Dir(name), source) {
			if lines > functionMost {
				t.Errorf("%s has %d lines, at most %d are allowed", function, lines, functionMost)
			}
		}
	}
}

// sameNameMost is how many packages may have an exported type of one name: a name that many have says
// nothing where it is read.
const sameNameMost = 3

func TestATypesNameSaysWhatItIs(t *testing.T) {
	t.Parallel()
	packages := map[string]map[string]bool{}
	sources := readRepository(t, ".go")
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
	if got := tokens("package p // x\n\nvar a = 1;\n"); got != 7 {
		t.Errorf("%d tokens, want 7", got)
	}
	got := functionLines(t, "p", source)
	if len(got) != 2 || got["p.S.One"] != 0 || got["p.Two"] != 1 {
		t.Errorf("functions: %v", got)
	}
}

// elsewhere are folders that are no part of the product.
var elsewhere = regexp.MustCompile(`^(?:.*/)?(?:\.[^/]+|tools|testdata|node_modules)/`)

// readRepository returns the text of each file of the product of some kinds, but for tests, by its name.
func readRepository(t *testing.T, kinds ...string) map[string]string {
	t.Helper()
	root := os.DirFS("../..")
	sources := map[string]string{}
	must.Do(t, fs.WalkDir(root, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !slices.Contains(kinds, path.Ext(name)) || strings.HasSuffix(name, "_test.go") ||
			elsewhere.MatchString(name) {
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

// tokens counts what the scanner of Go sees, but for comments and the ends of lines.
func tokens(source string) (n int) {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(source)), []byte(source), nil, 0)
	for _, kind, text := s.Scan(); kind != token.EOF; _, kind, text = s.Scan() {
		if kind != token.SEMICOLON || text != "\n" {
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
