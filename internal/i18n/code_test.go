package i18n_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/english"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/must"
)

const module = "github.com/safrasync/safrasync/"

// code reads the packages of this module from their sources. What they import from others is empty:
// types that come from there stay unknown, and no key has one.
type code struct {
	t     *testing.T
	fset  *token.FileSet
	files map[string][]*ast.File
	known map[string]*types.Package
	info  map[string]*types.Info
}

func (c *code) Import(path string) (*types.Package, error) {
	if pkg, ok := c.known[path]; ok {
		return pkg, nil
	}
	folder, ours := strings.CutPrefix(path, module)
	if !ours {
		pkg := types.NewPackage(path, filepath.Base(path))
		pkg.MarkComplete()
		c.known[path] = pkg
		return pkg, nil
	}
	for _, name := range must.Get(filepath.Glob(filepath.Join("../..", folder, "*.go")))(c.t) {
		if !strings.HasSuffix(name, "_test.go") {
			file := must.Get(parser.ParseFile(c.fset, name, nil, parser.SkipObjectResolution))(c.t)
			c.files[folder] = append(c.files[folder], file)
		}
	}
	c.info[folder] = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	config := types.Config{Importer: c, Error: func(error) {}}
	pkg, _ := config.Check(path, c.fset, c.files[folder], c.info[folder])
	c.known[path] = pkg
	return pkg, nil
}

var inTemplate = regexp.MustCompile(`"([a-z_.]+)(?:%s)?`)

// keysUnder returns the constant keys that the packages of some folders and of the folders in them
// name, and all their string literals, with those of templates.
func (c *code) keysUnder(folders ...string) (keys map[string]token.Pos, literals map[string]bool) {
	keys, literals = map[string]token.Pos{}, map[string]bool{}
	for _, folder := range folders {
		must.Do(c.t, fs.WalkDir(os.DirFS("../.."), folder, func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
			case entry.IsDir():
				must.Get(c.Import(module + name))(c.t)
				c.keys(name, keys, literals)
			case path.Ext(name) == ".html":
				text := must.Get(os.ReadFile("../../" + name))(c.t)
				for _, m := range inTemplate.FindAllStringSubmatch(string(text), -1) {
					literals[m[1]] = true
				}
			}
			return err
		}))
	}
	return keys, literals
}

// keys adds those of one package.
func (c *code) keys(folder string, keys map[string]token.Pos, literals map[string]bool) {
	for _, file := range c.files[folder] {
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && len(call.Args) > 0 { // v.T("home.title") of the console
				name, ok := call.Fun.(*ast.SelectorExpr)
				literal, isLiteral := call.Args[0].(*ast.BasicLit)
				if ok && isLiteral && name.Sel.Name == "T" {
					text, _ := strconv.Unquote(literal.Value)
					keys[text] = literal.Pos()
				}
			}
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			text := must.Get(strconv.Unquote(literal.Value))(c.t)
			literals[text] = true
			if typ := c.info[folder].Types[literal].Type; typ != nil && typ.String() == module+"internal/i18n.Key" {
				keys[text] = literal.Pos()
			}
			return true
		})
	}
}

// A key that the code puts together has a literal that ends with a point before it ("stop."), or
// begins with one behind it (".many"). Pages name theirs in templates.
func TestTheCodeNamesKeysThatExistAndNoOthersExist(t *testing.T) {
	t.Parallel()
	c := &code{t, token.NewFileSet(), map[string][]*ast.File{}, map[string]*types.Package{}, map[string]*types.Info{}}
	for part, folders := range map[i18n.Part][]string{
		i18n.CLI:     {"cmd/safrasync", "internal/config", "internal/office", "internal/words"},
		i18n.Console: {"console"}, i18n.Alerts: {"internal/alert"},
		i18n.Report:  {"sync/reconcile"},
		i18n.Sandbox: {"apiclient/sandbox"},
	} {
		named, literals := c.keysUnder(folders...)
		all := part.All(i18n.Portuguese)
		bases := map[string]bool{}
		for key := range all {
			if i := strings.LastIndex(string(key), "."); i > 0 {
				bases[string(key)[:i]] = true
			}
			if !used(string(key), literals) {
				t.Errorf("%s: nothing names %s", part, key)
			}
		}
		if len(named) < 5 && part != i18n.Sandbox { // which puts all of its keys together
			t.Errorf("%s: only %d keys were found in %s: does the test still read them?", part, len(named), folders)
		}
		for key, at := range named {
			if key == "" || strings.HasPrefix(key, ".") || strings.HasSuffix(key, ".") || bases[key] {
				continue
			}
			if _, ok := all[i18n.Key(key)]; !ok {
				t.Errorf("%s: there is no text for %q in part %s", c.fset.Position(at), key, part)
			}
		}
	}
}

// used reports whether a literal is the key, its beginning up to a point, or all of it but the last
// word.
func used(key string, literals map[string]bool) bool {
	for i := 0; i < len(key); i++ {
		if key[i] == '.' && (literals[key[:i+1]] || literals[key[:i]]) {
			return true
		}
	}
	return literals[key]
}

// sayers are the functions that take a sentence which may reach a person, by their last name.
var sayers = map[string]bool{
	"Errorf": true, "New": true, "Fault": true, "Failf": true, "fail": true, "fault": true,
	"refuse": true, "unfit": true, "say": true,
	"alarmFor": true, "message": true, "parseOne": true,
}

// ofTheCode are sentences about mistakes in the code itself, which no person can cause.
var ofTheCode = regexp.MustCompile(`^(storing a group: |the gate panicked|an act of a person needs|there is no page|` +
	`opening the ledger: the program has no|%s: (an act is on|a row gives up|only an order)|an update may not move|` +
	`a reference needs a kind|dict: |the (driver|SQLite driver|Oracle driver) cannot|the %. %.$|` +
	`%. is nothing that happens to an event|again: )`) // the last two name events: again, lost

func TestWhatTheCodeSaysInEnglishIsToldInPortuguese(t *testing.T) {
	t.Parallel()
	verbs := regexp.MustCompile(`%(\[\d+\])?[+#0-9.]*[a-zA-Z]`)
	found := 0
	for _, folder := range []string{
		"apiclient", "cmd/safrasync", "console", "erp", "internal/alert", "internal/config", "internal/office",
		"internal/words",
		"state", "sync", "trade",
	} {
		must.Do(t, fs.WalkDir(os.DirFS("../.."), folder, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") ||
				strings.HasPrefix(name, "erp/erptest/") || strings.HasPrefix(name, "cmd/safrasync/demo/") {
				return err
			}
			set := token.NewFileSet()
			file := must.Get(parser.ParseFile(set, "../../"+name, nil, parser.SkipObjectResolution))(t)
			ast.Inspect(file, func(n ast.Node) bool {
				var said []ast.Expr
				switch n := n.(type) {
				case *ast.CallExpr:
					if sayers[lastName(n.Fun)] {
						said = n.Args
					}
				case *ast.KeyValueExpr:
					if name, ok := n.Key.(*ast.Ident); ok && name.Name == "Hint" {
						said = []ast.Expr{n.Value}
					}
				}
				for _, arg := range said {
					literal, ok := arg.(*ast.BasicLit)
					if !ok || literal.Kind != token.STRING {
						continue
					}
					text := must.Get(strconv.Unquote(literal.Value))(t)
					if ofTheCode.MatchString(text) || english.Lines(text) == nil {
						continue
					}
					found++
					text = strings.ReplaceAll(text, "%%", "%")
					told, _ := i18n.Translate(i18n.Portuguese, verbs.ReplaceAllString(text, "X"))
					if left := english.Lines(told); left != nil {
						t.Errorf("%s: no Portuguese (part said) for %q", set.Position(literal.Pos()), verbs.ReplaceAllString(text, "%s"))
					}
				}
				return true
			})
			return nil
		}))
	}
	if found < 500 {
		t.Errorf("only %d sentences were found: does the test still read them?", found)
	}
}

func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}
