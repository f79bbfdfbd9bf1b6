package manual

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/safrasync/safrasync/"

// The ways of concepts.md, each with the most functions and files that it may have.
var ways = []struct {
	heading          string
	functions, files int
}{
	{"The way of a row", 30, 14},
	{"The way of an act", 12, 6},
	{"The way of an event", 16, 8},
}

// A stop of a way is a function where it is declared. start says that a sequence begins with it.
type stop struct {
	file, name string
	start      bool
}

var (
	word     = regexp.MustCompile("`([^`]+)`|(→)|(;)")
	function = regexp.MustCompile(`^(?:[A-Za-z]\w*\.)?[A-Za-z]\w*$`)
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
			case !function.MatchString(m[1]):
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
func checkWay(code *sources, way []stop) (faults []string, functions, files int) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	named := map[string]stop{}
	seen := map[string]bool{}
	var before *stop
	for _, s := range way {
		known, again := named[s.name]
		switch {
		case s.file == "" && again:
			s.file = known.file
		case s.file == "" && before != nil && !s.start:
			s.file = before.file
		}
		switch {
		case s.file == "":
			fault("%s: the way does not say in which file it stands", s.name)
			before = nil
			continue
		case s.start && !again && !code.calledFromOutside(s):
			fault("%s begins a sequence, but it was not named before, and no command calls it", s.name)
		}
		if code.find(s) == nil {
			fault("%s has no %s", s.file, s.name)
			before = nil
			continue
		}
		named[s.name], seen[s.file] = s, true
		if !s.start && before != nil && !code.leads(*before, s, named, way) {
			fault("%s calls %s neither itself nor through one other function", before.name, s.name)
		}
		before = &s
	}
	return faults, len(named), len(seen)
}

func TestTheWaysOfConceptsAreThoseOfTheCode(t *testing.T) {
	t.Parallel()
	code := &sources{folders: map[string][]source{}}
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
	if code.err != nil {
		t.Error(code.err)
	}
}

func TestAWayThatTheCodeDoesNotGoIsFound(t *testing.T) {
	t.Parallel()
	code := &sources{folders: map[string][]source{}}
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

// sources reads the Go files of folders as they are asked for, without tests.
type sources struct {
	folders map[string][]source
	outside []call // of the commands and of the console
	err     error
}

type source struct {
	file    string
	imports map[string]string // by the name under which the file knows it, the folder of ours
	funcs   []*ast.FuncDecl
}

func (s *sources) of(folder string) []source {
	if files, ok := s.folders[folder]; ok {
		return files
	}
	s.folders[folder] = nil
	names, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	s.keep(err)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			s.keep(err)
			continue
		}
		file := source{file: path.Join(folder, filepath.Base(name)), imports: map[string]string{}}
		for _, i := range syntax.Imports {
			if at, ours := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), module); ours {
				as := path.Base(at)
				if i.Name != nil {
					as = i.Name.Name
				}
				file.imports[as] = at
			}
		}
		for _, d := range syntax.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				file.funcs = append(file.funcs, f)
			}
		}
		s.folders[folder] = append(s.folders[folder], file)
	}
	return s.folders[folder]
}

func (s *sources) keep(err error) {
	if s.err == nil {
		s.err = err
	}
}

// find returns the declaration of a stop, and nil when its file has none.
func (s *sources) find(at stop) *ast.FuncDecl {
	for _, file := range s.of(path.Dir(at.file)) {
		for _, f := range file.funcs {
			if file.file == at.file && nameOf(f) == at.name {
				return f
			}
		}
	}
	return nil
}

// leads reports whether one function calls another, itself or through one that the way does not
// name. That one stands in the same package, or in one that the file of the caller imports.
func (s *sources) leads(from, to stop, named map[string]stop, way []stop) bool {
	var caller source
	for _, file := range s.of(path.Dir(from.file)) {
		if file.file == from.file {
			caller = file
		}
	}
	inWay := func(name string) bool {
		_, ok := named[name]
		return ok || slices.ContainsFunc(way, func(o stop) bool { return o.name == name })
	}
	for _, c := range callsIn(caller, s.find(from)) {
		if c.reaches(to) {
			return true
		}
		folders := []string{path.Dir(from.file)}
		if c.kind != plainCall {
			for _, folder := range caller.imports {
				folders = append(folders, folder)
			}
		}
		for _, folder := range folders {
			for _, file := range s.of(folder) {
				for _, helper := range file.funcs {
					at := stop{file: file.file, name: nameOf(helper)}
					if c.reaches(at) && !inWay(at.name) &&
						slices.ContainsFunc(callsIn(file, helper), func(c call) bool { return c.reaches(to) }) {
						return true
					}
				}
			}
		}
	}
	return false
}

// calledFromOutside reports whether the commands or the console call an exported function. Where
// they call it from is theirs to say.
func (s *sources) calledFromOutside(to stop) bool {
	if s.outside == nil {
		for _, top := range []string{"cmd", "console"} {
			s.keep(filepath.WalkDir(filepath.Join(root, top), func(name string, d os.DirEntry, err error) error {
				if err != nil || !d.IsDir() {
					return err
				}
				folder, err := filepath.Rel(root, name)
				for _, file := range s.of(filepath.ToSlash(folder)) {
					for _, f := range file.funcs {
						s.outside = append(s.outside, callsIn(file, f)...)
					}
				}
				return err
			}))
		}
	}
	name := to.name[strings.LastIndexByte(to.name, '.')+1:]
	return ast.IsExported(name) && slices.ContainsFunc(s.outside, func(c call) bool { return c.reaches(to) })
}

// A call is of a name: of the same package (plain), of an imported one, or of a value's method.
type call struct {
	kind         int
	folder, name string
}

const (
	plainCall = iota
	packageCall
	methodCall
)

// reaches reports whether a call may be one of a function. A method is known by its name, so that
// one of an interface counts.
func (c call) reaches(to stop) bool {
	of, name, method := strings.Cut(to.name, ".")
	if !method {
		of, name = "", of
	}
	switch {
	case c.name != name:
		return false
	case c.kind == methodCall:
		return of != ""
	}
	return of == "" && c.folder == path.Dir(to.file)
}

// callsIn returns what a function calls, and what it hands over to be called.
func callsIn(in source, f *ast.FuncDecl) []call {
	var out []call
	add := func(e ast.Expr) {
		switch e := e.(type) {
		case *ast.Ident:
			out = append(out, call{plainCall, path.Dir(in.file), e.Name})
		case *ast.SelectorExpr:
			if x, ok := e.X.(*ast.Ident); ok && in.imports[x.Name] != "" {
				out = append(out, call{packageCall, in.imports[x.Name], e.Sel.Name})
				return
			}
			out = append(out, call{methodCall, "", e.Sel.Name})
		}
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			add(c.Fun)
			for _, arg := range c.Args {
				add(arg)
			}
		}
		return true
	})
	return out
}

// nameOf is "Type.Method" or "Function".
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name + "." + f.Name.Name
	}
	return f.Name.Name
}
