package limits

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
)

const tradePackage = "github.com/safrasync/safrasync/trade"

// movedFields are the fields of an entry that only its methods set, because they change together.
var movedFields = []string{"State", "Cause", "NextAttemptAt"}

// The state of an entry changes by the methods of trade.Entry only, which clear what must not stay.
func TestOnlyItsMethodsMoveAnEntry(t *testing.T) {
	t.Parallel()
	packages := packagesOf(t)
	known := imports(packages)
	checked := 0
	for _, p := range packages {
		if p.Module == nil || !p.Module.Main || !slices.Contains(p.Imports, tradePackage) {
			continue
		}
		checked++
		sources := map[string]string{}
		for _, name := range p.GoFiles {
			sources[path.Join(p.Dir, name)] = string(must.Get(os.ReadFile(path.Join(p.Dir, name)))(t))
		}
		for _, at := range assignments(t, known, sources) {
			t.Errorf("%s: use a method of trade.Entry (trade/moves.go)", at)
		}
	}
	if checked < 10 {
		t.Fatalf("only %d packages were looked at", checked)
	}
}

func TestAnAssignmentToAnEntryIsFound(t *testing.T) {
	t.Parallel()
	got := assignments(t, imports(packagesOf(t)), map[string]string{"x.go": `package x

import "github.com/safrasync/safrasync/trade"

type step struct{ After trade.Entry }

func move(e *trade.Entry, s *step, u []trade.Update, n *trade.Candidate) {
	e.State = trade.Held
	s.After.Flags, s.After.Cause = nil, ""
	u[0].Entry.NextAttemptAt = e.UpdatedAt
	n.State, e.WaitingFor[0].ParentState = trade.CandidateRead, trade.Held
	e.Pend()
}
`})
	want := []string{"x.go:8: e.State", "x.go:9: s.After.Cause", "x.go:10: u[0].Entry.NextAttemptAt"}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// goPackage is what go list says of a package.
type goPackage struct {
	ImportPath, Dir, Export string
	Module                  *struct{ Main bool }
	GoFiles, Imports        []string
}

// packagesOf returns the product's packages and all that they import, with their compiled types.
func packagesOf(t *testing.T) []goPackage {
	t.Helper()
	list := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,Module,GoFiles,Imports", "./...")
	list.Dir, list.Stderr = "../..", os.Stderr
	text := must.Get(list.Output())(t)
	var out []goPackage
	for d := json.NewDecoder(strings.NewReader(string(text))); d.More(); {
		var p goPackage
		must.Do(t, d.Decode(&p))
		out = append(out, p)
	}
	return out
}

// imports returns what finds the types of packages that are imported.
func imports(packages []goPackage) types.Importer {
	compiled := map[string]string{}
	for _, p := range packages {
		compiled[p.ImportPath] = p.Export
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(name string) (io.ReadCloser, error) {
		return os.Open(compiled[name])
	})
}

// assignments returns where the files of one package assign to those fields of an entry.
func assignments(t *testing.T, known types.Importer, sources map[string]string) (found []string) {
	t.Helper()
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		files = append(files, must.Get(parser.ParseFile(set, name, sources[name], parser.SkipObjectResolution))(t))
	}
	info := types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}}
	with := types.Config{Importer: known}
	must.Get(with.Check(files[0].Name.Name, set, files, &info))(t)
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok {
				return true
			}
			for _, left := range a.Lhs {
				if field, ok := left.(*ast.SelectorExpr); ok && ofEntry(info.Selections[field]) {
					at := set.Position(field.Pos())
					found = append(found, fmt.Sprintf("%s:%d: %s", at.Filename, at.Line, types.ExprString(field)))
				}
			}
			return true
		})
	}
	return found
}

// ofEntry reports whether a selection is one of those fields of an entry.
func ofEntry(s *types.Selection) bool {
	if s == nil || !slices.Contains(movedFields, s.Obj().Name()) {
		return false
	}
	return holder(s) == tradePackage+".Entry"
}

// holder returns the name of the type that has a selected field, which may be embedded.
func holder(s *types.Selection) string {
	of := s.Recv()
	for _, i := range s.Index()[:len(s.Index())-1] {
		of = structOf(of).Field(i).Type()
	}
	return strings.TrimPrefix(of.String(), "*")
}

func structOf(of types.Type) *types.Struct {
	if p, ok := of.Underlying().(*types.Pointer); ok {
		of = p.Elem()
	}
	s, _ := of.Underlying().(*types.Struct)
	return s
}
