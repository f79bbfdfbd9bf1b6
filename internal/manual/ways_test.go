package manual

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
)

const module = "github.com/safrasync/safrasync/"

// The ways of concepts.md, each with the most functions and files that it may have.
var ways = []struct {
	heading          string
	functions, files int
}{
	{"The way of a row", 30, 14},
	{"The way of an act", 14, 8},
	{"The way of an event", 16, 8},
}

// A stop of a way is a function where it is declared. start says that a sequence begins with it.
type stop struct {
	file, name string
	start      bool
}

var (
	word         = regexp.MustCompile("`([^`]+)`|(→)|(;)")
	functionName = regexp.MustCompile(`^(?:[A-Za-z]\w*\.)?[A-Za-z]\w*$`)
)

// parseWay reads the table of a way. In its last column a file stands before the functions in it,
// an arrow between a function and the one that it calls, a semicolon before a new sequence. A
// function that was named before needs no file, nor does one in the file of its caller.
func parseWay(page, heading string) ([]stop, error) {
	_, text, ok := strings.Cut(page, "\n### "+heading+"\n")
	if !ok {
		return nil, fmt.Errorf("there is no heading %q", heading)
	}
	if end := strings.Index(text, "\n#"); end >= 0 {
		text = text[:end]
	}
	var out []stop
	for _, line := range strings.Split(text, "\n") {
		cells := strings.Split(strings.Trim(line, "| "), "|")
		if !strings.HasPrefix(line, "| ") || len(cells) != 2 {
			continue
		}
		file, start, arrow := "", true, true
		for _, m := range word.FindAllStringSubmatch(cells[1], -1) {
			switch {
			case m[2] != "":
				arrow = true
			case m[3] != "":
				file, start, arrow = "", true, true
			case strings.HasSuffix(m[1], ".go"):
				file = m[1]
			case !functionName.MatchString(m[1]):
				return nil, fmt.Errorf("%q is no function", m[1])
			case !arrow:
				return nil, fmt.Errorf("no arrow leads to %s", m[1])
			default:
				out = append(out, stop{file: file, name: m[1], start: start})
				start, arrow = false, false
			}
		}
	}
	return out, nil
}

// checkWay follows a way through the sources and returns what is wrong with it. Each function
// stands in its file and calls the next one, itself or through one function that the way does not
// name. A sequence begins with a function that was named before, or with an exported one that the
// commands or the console call.
func checkWay(code []*function, way []stop) (faults []string, functions, files int) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	named := map[string]*function{}
	seen := map[string]bool{}
	var before *function
	for _, s := range way {
		known := named[s.name]
		switch {
		case s.file == "" && known != nil:
			s.file = known.file
		case s.file == "" && before != nil && !s.start:
			s.file = before.file
		}
		at := slices.IndexFunc(code, func(f *function) bool { return f.file == s.file && f.name == s.name })
		switch {
		case s.file == "":
			fault("%s: the way does not say in which file it stands", s.name)
		case at < 0:
			fault("%s has no %s", s.file, s.name)
		}
		if at < 0 {
			before = nil
			continue
		}
		f := code[at]
		named[s.name], seen[s.file] = f, true
		if s.start && known == nil && !calledFromOutside(code, f) {
			fault("%s begins a sequence, but it was not named before, and no command calls it", s.name)
		}
		if !s.start && before != nil && !leads(code, before, f, way) {
			fault("%s calls %s neither itself nor through one other function", before.name, s.name)
		}
		before = f
	}
	return faults, len(named), len(seen)
}

func TestTheWaysOfConceptsAreThoseOfTheCode(t *testing.T) {
	t.Parallel()
	code := readCode(t)
	for _, want := range ways {
		way, err := parseWay(read(t, "docs/concepts.md"), want.heading)
		if err != nil {
			t.Fatalf("%s: %v", want.heading, err)
		}
		faults, functions, files := checkWay(code, way)
		for _, fault := range faults {
			t.Errorf("%s: %s", want.heading, fault)
		}
		if functions > want.functions || files > want.files || functions < 10 {
			t.Errorf("%s has %d functions in %d files, want at most %d in %d",
				want.heading, functions, files, want.functions, want.files)
		}
	}
}

func TestAWayThatTheCodeDoesNotGoIsFound(t *testing.T) {
	t.Parallel()
	code := readCode(t)
	for _, c := range []struct{ way, want string }{
		{"`sync/pipeline.go` `Engine.Sync` → `pass.begin` → `jobPass.open`", ""},
		{"`sync/pipeline.go` `Engine.Sync` → `jobPass.open`", ""}, // through begin
		{"`sync/pipeline.go` `Engine.Sync` → `jobPass.turn`; `Engine.Sync` → `pass.begin` → `jobPass.open`", ""},
		{
			"`sync/pipeline.go` `Engine.Sync` → `pass.begin`; `Engine.Sync` → `jobPass.open`",
			"Engine.Sync calls jobPass.open neither",
		}, // begin is named
		{"`sync/pipeline.go` `Engine.Sync` → `jobPass.open` → `pass.begin`", "jobPass.open calls pass.begin neither"},
		{
			"`sync/pipeline.go` `Engine.Sync` → `sync/discovery/discover.go` `Discoverer.Discover`",
			"Engine.Sync calls Discoverer.Discover neither",
		}, // two functions are between
		{"`sync/pipeline.go` `Engine.Sync` → `sync/pass.go` `pass.begin`", "sync/pass.go has no pass.begin"},
		{"`sync/pipeline.go` `Engine.Sync` → `Engine.begin`", "has no Engine.begin"},
		{"`sync/pipeline.go` `pass.begin` → `jobPass.open`", "pass.begin begins a sequence"},
		{"`sync/pipeline.go` `Engine.Sync` → `pass.begin`; `jobPass.open`", "does not say in which file"},
	} {
		way, err := parseWay("\n### W\n| Step | "+c.way+" |\n", "W")
		if err != nil {
			t.Errorf("%s: %v", c.way, err)
			continue
		}
		faults, _, _ := checkWay(code, way)
		if got := strings.Join(faults, "\n"); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", c.way, got, c.want)
		}
	}
	for _, text := range []string{"`a.go` `F` `G`", "`a.go` `F()`"} {
		if _, err := parseWay("\n### W\n| Step | "+text+" |\n", "W"); err == nil {
			t.Errorf("%s is read as a way", text)
		}
	}
}

// A function is one of the sources, "Function" or "Type.Method".
type function struct {
	file, folder, name string
	imports            map[string]string // of its file: by the name that it gives them, the folders of ours
	calls              []call
}

// A call is of a function in a folder, or of a value's method, which has no folder.
type call struct{ folder, name string }

// reaches reports whether a call may be one of a function. A method is known by its name, so that
// one of an interface counts.
func (c call) reaches(to *function) bool {
	if c.folder != "" {
		return c == call{to.folder, to.name}
	}
	_, method, ok := strings.Cut(to.name, ".")
	return ok && c.name == method
}

// leads reports whether one function calls another, itself or through one that the way does not
// name. That one stands in the same package, or in one that the file of the caller imports.
func leads(code []*function, from, to *function, way []stop) bool {
	near := append(slices.Collect(maps.Values(from.imports)), from.folder)
	return from.calling(to) || slices.ContainsFunc(code, func(f *function) bool {
		return slices.Contains(near, f.folder) && from.calling(f) && f.calling(to) &&
			!slices.ContainsFunc(way, func(s stop) bool { return s.name == f.name })
	})
}

func (f *function) calling(to *function) bool {
	return slices.ContainsFunc(f.calls, func(c call) bool { return c.reaches(to) })
}

// calledFromOutside reports whether the commands or the console call an exported function. Where
// they call it from is theirs to say.
func calledFromOutside(code []*function, to *function) bool {
	return ast.IsExported(to.name[strings.LastIndexByte(to.name, '.')+1:]) &&
		slices.ContainsFunc(code, func(f *function) bool {
			return (strings.HasPrefix(f.file, "cmd/") || strings.HasPrefix(f.file, "console/")) && f.calling(to)
		})
}

// readCode reads the functions of the product.
func readCode(t *testing.T) (code []*function) {
	t.Helper()
	for _, name := range files(t, func(name string) bool {
		return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") &&
			!strings.HasPrefix(name, "tools/")
	}) {
		syntax := must.Get(parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil,
			parser.SkipObjectResolution))(t)
		imports := map[string]string{}
		for _, i := range syntax.Imports {
			if folder, ours := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), module); ours {
				as := path.Base(folder)
				if i.Name != nil {
					as = i.Name.Name
				}
				imports[as] = folder
			}
		}
		for _, d := range syntax.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				of := ""
				if f.Recv != nil {
					of = strings.TrimPrefix(types.ExprString(f.Recv.List[0].Type), "*") + "."
				}
				code = append(code, &function{name, path.Dir(name), of + f.Name.Name, imports, nil})
				code[len(code)-1].read(f.Body)
			}
		}
	}
	return code
}

// read finds what a function calls, and what it hands over to be called.
func (f *function) read(body *ast.BlockStmt) {
	ast.Inspect(body, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		for _, e := range append(slices.Clone(c.Args), c.Fun) {
			switch e := e.(type) {
			case *ast.Ident:
				f.calls = append(f.calls, call{f.folder, e.Name})
			case *ast.SelectorExpr:
				folder := ""
				if x, ok := e.X.(*ast.Ident); ok {
					folder = f.imports[x.Name]
				}
				f.calls = append(f.calls, call{folder, e.Sel.Name})
			}
		}
		return true
	})
}
