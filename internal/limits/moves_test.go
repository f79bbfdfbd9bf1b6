package limits

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
)

const (
	module    = "github.com/safrasync/safrasync"
	entryType = module + "/trade.Entry"
)

// generics are the packages of the standard library through which entries pass.
var generics = []string{"cmp", "iter", "maps", "slices"}

// movedFields are the fields of an entry that only its methods set, because they change together.
var movedFields = []string{"State", "Cause", "NextAttemptAt"}

// The state of an entry changes by the methods of trade.Entry only, which clear what must not stay. The
// rows of the ledger take it from them in one file.
func TestOnlyItsMethodsMoveAnEntry(t *testing.T) {
	t.Parallel()
	c := newChecker(t, readRepository(t, ".go"))
	for folder := range c.folders {
		if slices.Contains(generics, folder) {
			continue
		}
		_ = must.Get(c.Import(path.Join(module, folder)))(t)
	}
	entries := 0
	for _, of := range c.info.Types {
		if of.Type != nil && of.Type.String() == entryType {
			entries++
		}
	}
	if entries < 500 {
		t.Fatalf("only %d expressions are known to be an entry", entries)
	}
	for _, at := range c.assignments() {
		if !strings.HasPrefix(at, "trade/") && !strings.HasPrefix(at, "state/rows_update.go") {
			t.Errorf("%s: use a method of trade.Entry (trade/moves.go), and in state moveEntry", at)
		}
	}
}

func TestAnAssignmentToAnEntryIsFound(t *testing.T) {
	t.Parallel()
	sources := readRepository(t, ".go")
	sources["x/x.go"] = `package x

import (
	"context"
	"slices"

	"github.com/safrasync/safrasync/trade"
)

type step struct{ After trade.Entry }

func move(ctx context.Context, e *trade.Entry, s *step, u []trade.Update, n *trade.Candidate) {
	e.State = trade.Held
	s.After.Flags, s.After.Cause = nil, ""
	for _, o := range slices.Clone(u) {
		o.Entry.NextAttemptAt = e.UpdatedAt
	}
	n.State, e.WaitingFor[0].ParentState = trade.CandidateRead, trade.Held
	e.Pend()
}
`
	c := newChecker(t, sources)
	_ = must.Get(c.Import(module + "/x"))(t)
	_ = must.Get(c.Import(module + "/state"))(t)
	got := slices.DeleteFunc(c.assignments(), func(at string) bool { return strings.HasPrefix(at, "trade/") })
	inState := func(at string) bool { return strings.HasPrefix(at, "state/rows_update.go") }
	if !slices.ContainsFunc(got, inState) {
		t.Errorf("of the rows of the ledger nothing was found in %q", got)
	}
	want := []string{"x/x.go:13: e.State", "x/x.go:14: s.After.Cause", "x/x.go:16: o.Entry.NextAttemptAt"}
	got = slices.DeleteFunc(got, inState)
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// checker finds the types of the product from its sources alone. Of packages that are not the
// product's it knows only those through which entries pass.
type checker struct {
	t        *testing.T
	sources  map[string]string
	folders  map[string][]string // the names of their files
	set      *token.FileSet
	files    []*ast.File
	info     types.Info
	packages map[string]*types.Package
}

func newChecker(t *testing.T, sources map[string]string) *checker {
	t.Helper()
	c := &checker{
		t: t, sources: sources, folders: map[string][]string{}, set: token.NewFileSet(),
		info: types.Info{
			Selections: map[*ast.SelectorExpr]*types.Selection{}, Types: map[ast.Expr]types.TypeAndValue{},
		},
		packages: map[string]*types.Package{"unsafe": types.Unsafe},
	}
	goroot := strings.TrimSpace(string(must.Get(exec.Command("go", "env", "GOROOT").Output())(t)))
	for _, name := range generics {
		for _, file := range must.Get(filepath.Glob(filepath.Join(goroot, "src", name, "*.go")))(t) {
			if !strings.HasSuffix(file, "_test.go") {
				sources[path.Join(name, filepath.Base(file))] = string(must.Get(os.ReadFile(file))(t))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		c.folders[path.Dir(name)] = append(c.folders[path.Dir(name)], name)
	}
	return c
}

// Import implements [types.Importer].
func (c *checker) Import(name string) (*types.Package, error) {
	p := c.packages[name]
	if p != nil {
		return p, nil
	}
	folder, ours := strings.CutPrefix(name, module+"/")
	if ours || slices.Contains(generics, name) {
		p = c.check(name, c.folders[folder])
	} else {
		p = types.NewPackage(name, path.Base(name))
		p.MarkComplete()
	}
	c.packages[name] = p
	return p, nil
}

// check finds the types of one package. What it cannot know, because of a package that is not the
// product's, is no error.
func (c *checker) check(name string, names []string) *types.Package {
	c.t.Helper()
	var files []*ast.File
	for _, file := range names {
		parsed := must.Get(parser.ParseFile(c.set, file, c.sources[file], parser.SkipObjectResolution))(c.t)
		files = append(files, parsed)
	}
	with := types.Config{Importer: c, Error: func(error) {}}
	p, _ := with.Check(name, c.set, files, &c.info)
	c.files = append(c.files, files...)
	return p
}

// assignments returns where the files that were checked assign to those fields of an entry.
func (c *checker) assignments() (found []string) {
	for _, file := range c.files {
		ast.Inspect(file, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok {
				return true
			}
			for _, left := range a.Lhs {
				field, ok := left.(*ast.SelectorExpr)
				if !ok || !slices.Contains(movedFields, field.Sel.Name) {
					continue
				}
				of := c.info.Types[field.X].Type
				if of == nil {
					continue
				}
				if name := strings.TrimPrefix(of.String(), "*"); name == entryType {
					at := c.set.Position(field.Pos())
					found = append(found, fmt.Sprintf("%s:%d: %s", at.Filename, at.Line, types.ExprString(field)))
				}
			}
			return true
		})
	}
	return found
}
