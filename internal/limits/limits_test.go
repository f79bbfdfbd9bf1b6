package limits

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
)

// The limits of what is measured.
var limits = map[string]int{
	"files":     25,   // of a package
	"lines":     4500, // of a package, with comments
	"methods":   40,   // of a type
	"fields":    20,   // of a struct
	"interface": 8,    // methods of an interface, with those of the interfaces that it embeds
	"function":  60,   // lines of a function
}

// A measure is one thing and how large it is.
type measure struct {
	what string // a key of limits
	name string // "sync/run", "sync/run.Ledger", "sync/run.Run.Close"
	size int
}

func TestPackagesTypesAndFunctionsKeepTheirLimits(t *testing.T) {
	t.Parallel()
	packages := readRepository(t)
	if len(packages) < 20 {
		t.Fatalf("%d packages were found: the test looks at the wrong folder", len(packages))
	}
	used := map[string]bool{}
	var all []measure
	for _, p := range packages {
		all = append(all, p.measures()...)
	}
	for _, m := range all {
		if m.size <= limits[m.what] {
			continue
		}
		key := m.what + " " + m.name
		used[key] = true
		switch e := exceptions[key]; {
		case e.size == 0:
			t.Errorf("%s: %d %s, at most %d are allowed: split it", m.name, m.size, m.what, limits[m.what])
		case m.size > e.size:
			t.Errorf("%s: %d %s, its exception allows %d: split it", m.name, m.size, m.what, e.size)
		case m.size < e.size:
			t.Errorf("%s: %d %s, its exception allows %d: write the smaller number there",
				m.name, m.size, m.what, e.size)
		}
	}
	for key, e := range exceptions {
		if !used[key] {
			t.Errorf("%q needs no exception any more: take it out", key)
		}
		if e.reason == "" {
			t.Errorf("the exception of %q gives no reason", key)
		}
	}
}

func TestWhatPassesALimitIsFound(t *testing.T) {
	t.Parallel()
	source := `package p
type I interface { J; A(); B() }
type J interface { C(); D() }
type S struct { a, b int; J }
func (s *S) One() {}
func (s S) Two() {
}
`
	file := must.Get(parser.ParseFile(token.NewFileSet(), "p.go", source, 0))(t)
	p := &pkg{folder: "p", files: 1, lines: 7, set: token.NewFileSet(), syntax: []*ast.File{file}}
	got := map[string]int{}
	for _, m := range p.measures() {
		got[m.what+" "+m.name] = m.size
	}
	for key, want := range map[string]int{
		"files p": 1, "lines p": 7, "methods p.S": 2, "fields p.S": 3, "interface p.I": 4, "interface p.J": 2,
	} {
		if got[key] != want {
			t.Errorf("%s: got %d, want %d", key, got[key], want)
		}
	}
}

// pkg is the product's Go files of one folder.
type pkg struct {
	folder       string
	files, lines int
	set          *token.FileSet
	syntax       []*ast.File
}

// elsewhere are folders that are no part of the product.
var elsewhere = regexp.MustCompile(`^(?:.*/)?(?:\.[^/]+|tools|testdata|node_modules)/`)

func readRepository(t *testing.T) map[string]*pkg {
	t.Helper()
	root := os.DirFS("../..")
	packages := map[string]*pkg{}
	must.Do(t, fs.WalkDir(root, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || elsewhere.MatchString(name) {
			return err
		}
		folder := path.Dir(name)
		if packages[folder] == nil {
			packages[folder] = &pkg{folder: folder, set: token.NewFileSet()}
		}
		p, source := packages[folder], must.Get(fs.ReadFile(root, name))(t)
		p.files++
		p.lines += bytes.Count(source, []byte("\n"))
		p.syntax = append(p.syntax, must.Get(parser.ParseFile(p.set, name, source, parser.SkipObjectResolution))(t))
		return nil
	}))
	return packages
}

func (p *pkg) measures() []measure {
	found := []measure{{"files", p.folder, p.files}, {"lines", p.folder, p.lines}}
	methods := map[string]map[string]bool{}
	interfaces := map[string]*ast.InterfaceType{}
	for _, file := range p.syntax {
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				name := p.folder + "." + d.Name.Name
				if d.Recv != nil {
					of, _, _ := strings.Cut(strings.TrimPrefix(types.ExprString(d.Recv.List[0].Type), "*"), "[")
					name = fmt.Sprintf("%s.%s.%s", p.folder, of, d.Name.Name)
					if methods[of] == nil {
						methods[of] = map[string]bool{}
					}
					methods[of][d.Name.Name] = true
				}
				size := p.set.Position(d.End()).Line - p.set.Position(d.Pos()).Line - 1
				found = append(found, measure{"function", name, size})
			case *ast.GenDecl:
				for _, s := range d.Specs {
					spec, ok := s.(*ast.TypeSpec)
					if !ok {
						continue
					}
					switch kind := spec.Type.(type) {
					case *ast.StructType:
						found = append(found,
							measure{"fields", p.folder + "." + spec.Name.Name, kind.Fields.NumFields()})
					case *ast.InterfaceType:
						interfaces[spec.Name.Name] = kind
					}
				}
			}
		}
	}
	for name, set := range methods {
		found = append(found, measure{"methods", p.folder + "." + name, len(set)})
	}
	for name, kind := range interfaces {
		found = append(found, measure{"interface", p.folder + "." + name, size(kind, interfaces)})
	}
	return found
}

// size counts the methods of an interface, with those of the interfaces of its package that it
// embeds.
func size(kind *ast.InterfaceType, interfaces map[string]*ast.InterfaceType) int {
	n := 0
	for _, field := range kind.Methods.List {
		n += len(field.Names)
		if embedded, ok := field.Type.(*ast.Ident); ok && interfaces[embedded.Name] != nil {
			n += size(interfaces[embedded.Name], interfaces)
		}
	}
	return n
}
