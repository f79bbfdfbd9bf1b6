package limits

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
	for _, m := range slices.Concat(measureAll(packages)...) {
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

func readRepository(t *testing.T) []*pkg {
	t.Helper()
	root := filepath.Join("..", "..")
	byFolder := map[string]*pkg{}
	must.Do(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") || name == "tools" || name == "testdata" ||
				name == "node_modules") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		p := byFolder[folder]
		if p == nil {
			p = &pkg{folder: filepath.ToSlash(folder), set: token.NewFileSet()}
			byFolder[folder] = p
		}
		p.files++
		p.lines += bytes.Count(source, []byte("\n"))
		file, err := parser.ParseFile(p.set, path, source, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		p.syntax = append(p.syntax, file)
		return nil
	}))
	var packages []*pkg
	for _, p := range byFolder {
		packages = append(packages, p)
	}
	slices.SortFunc(packages, func(a, b *pkg) int { return cmp.Compare(a.folder, b.folder) })
	return packages
}

func measureAll(packages []*pkg) [][]measure {
	var all [][]measure
	for _, p := range packages {
		all = append(all, p.measures())
	}
	return all
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
				if of := receiver(d); of != "" {
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

// receiver returns the type that a method belongs to, and "" for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	of := d.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if index, ok := of.(*ast.IndexExpr); ok {
		of = index.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}
