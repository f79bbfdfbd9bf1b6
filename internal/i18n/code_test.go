package i18n_test

import (
	"errors"
	"go/ast"
	"go/constant"
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
	"time"

	"github.com/safrasync/safrasync/internal/english"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/phrase"
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

var (
	inTemplate = regexp.MustCompile(`"([a-z_.]+)(?:%s)?`)
	action     = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	quoted     = regexp.MustCompile(`"([^"]*)"`)
)

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
				for _, found := range action.FindAllString(string(text), -1) {
					for _, m := range quoted.FindAllStringSubmatch(found, -1) {
						literals[m[1]] = true
					}
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
			if strings.HasPrefix(folder, "console") {
				fault(n, keys)
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

// fault adds what a page says is wrong: a literal that is put into a field Fault.
func fault(n ast.Node, keys map[string]token.Pos) {
	var of, literals []ast.Expr
	switch n := n.(type) {
	case *ast.AssignStmt:
		of, literals = n.Lhs, n.Rhs
	case *ast.KeyValueExpr:
		of, literals = []ast.Expr{n.Key}, []ast.Expr{n.Value}
	}
	for i, field := range of {
		if lastName(field) != "Fault" || len(literals) != len(of) {
			continue
		}
		if literal, ok := literals[i].(*ast.BasicLit); ok {
			text, _ := strconv.Unquote(literal.Value)
			keys[text] = literal.Pos()
		}
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
		i18n.Trade:   {"trade"},
	} {
		named, literals := c.keysUnder(folders...)
		all := part.Names("")
		bases := map[string]bool{}
		for _, key := range all {
			if i := strings.LastIndex(key, "."); i > 0 {
				bases[key[:i]] = true
			}
			if !used(key, literals) {
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
			if _, ok := i18n.SentenceForm(i18n.Portuguese, key); ok {
				continue
			}
			if !part.Has(key) {
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

// formatAt says which argument of a function is the format of a sentence, or a fixed one. A format that
// is a variable comes from the caller of a function that stands here, too.
var formatAt = map[string]int{
	"phrase.New": 0, "phrase.Errorf": 0, "phrase.Pack": 0, "phrase.Fixed": 0, "a.Phrase": 0,
	"cli.TakesStates": 3, "fault.Failf": 1, "Failf": 1, "s.Failf": 1,
	"d.Fault": 1, "d.faultAt": 2, "s.Refuse": 2, "source.Refuse": 2, "UnknownName": 0, "config.UnknownName": 0,
	"d.Unknown": 0, "s.fail": 1, "in.fault": 2, "placed": 1, "unfit": 0, "tls": 0, "errors.New": 0,
	"SpecFault": 1, "mapping.SpecFault": 1,
}

// ofTheCode are errors about mistakes in the code itself, or of a run, which no person sees.
var ofTheCode = regexp.MustCompile(`^(storing a group: |failed on purpose$|an act of a person needs|enough$|found$|` +
	`left_out_without_full|the (driver|SQLite driver|Oracle driver) cannot|%s: (an act is on|a row gives up|only an order))`)

// ofOthers are texts of libraries and of the operating system, which the code does not have.
var ofOthers = regexp.MustCompile(`^(open %s: |no such file or directory$|permission denied$|is a directory$|file exists$)`)

func TestWhatTheCodeSaysInEnglishIsToldInPortuguese(t *testing.T) {
	t.Parallel()
	c := &code{t, token.NewFileSet(), map[string][]*ast.File{}, map[string]*types.Package{}, map[string]*types.Info{}}
	_, literals := c.keysUnder("apiclient", "cmd/safrasync", "console", "erp", "internal/alert", "internal/config",
		"internal/office", "internal/words", "state", "sync", "trade")
	constants, found := map[string]bool{}, 0
	for folder, files := range c.files {
		for _, file := range files {
			ast.Inspect(file, func(n ast.Node) bool {
				if e, ok := n.(ast.Expr); ok {
					if v := c.info[folder].Types[e].Value; v != nil && v.Kind() == constant.String {
						constants[constant.StringVal(v)], constants[phrase.Key(constant.StringVal(v))] = true, true
					}
				}
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				at, says := formatAt[calledName(call.Fun)]
				if !says || at >= len(call.Args) {
					return true
				}
				v := c.info[folder].Types[call.Args[at]].Value
				if v == nil || v.Kind() != constant.String || strings.HasPrefix(folder, "erp/erptest") ||
					strings.HasPrefix(folder, "internal/receiver") ||
					strings.HasPrefix(folder, "internal/httpapi") { // these two answer programs

					return true
				}
				format := constant.StringVal(v)
				found++
				told(t, c.fset.Position(call.Pos()), calledName(call.Fun), format)
				return true
			})
		}
	}
	if found < 800 {
		t.Errorf("only %d sentences were found: does the test still read them?", found)
	}
	for path := range texts(t) {
		key, said := strings.CutPrefix(path, "said/")
		if said && !constants[key] && !literals[key] && !ofOthers.MatchString(key) {
			t.Errorf("nothing in the code says %q (said)", key)
		}
	}
}

// told tells a sentence with arguments of every kind in both languages.
func told(t *testing.T, at token.Position, maker, format string) {
	t.Helper()
	fixed := maker == "phrase.Fixed" || maker == "errors.New"
	key := phrase.Key(format)
	if fixed {
		key = format
	}
	if ofTheCode.MatchString(format) || fixed && english.Lines(format) == nil {
		return
	}
	if _, known := i18n.SentenceForm(i18n.Portuguese, key); !known {
		t.Errorf("%s: no Portuguese (said) for %q", at, key)
		return
	}
	var args []any
	for _, verb := range regexp.MustCompile(`%(?:\[(\d+)\])?[-+# 0.\d]*([a-zA-Z%])`).FindAllStringSubmatch(format, -1) {
		if n, err := strconv.Atoi(verb[1]); fixed || verb[2] == "%" || err == nil && n <= len(args) {
			continue
		}
		args = append(args, map[string]any{
			"d": 7, "o": 7, "U": 'x', "X": 7, "s": "a text", "q": "a text", "v": time.Second, "T": 7,
			"w": phrase.New("cannot be read: %w", errors.New("disk on fire")),
		}[verb[2]])
	}
	text := phrase.Fixed(format)
	if !fixed {
		text = phrase.New(format, args...)
	}
	for _, lang := range []i18n.Lang{i18n.Portuguese, i18n.English} {
		if told := i18n.ErrorText(lang, text); strings.Contains(told, "%!") || strings.Contains(told, "<nil>") {
			t.Errorf("%s: %q is told as %q", at, format, told)
		}
	}
}

// calledName returns the name of a function with what stands before its last point.
func calledName(e ast.Expr) string {
	if s, ok := e.(*ast.SelectorExpr); ok {
		if x, ok := s.X.(*ast.Ident); ok {
			return x.Name + "." + s.Sel.Name
		}
	}
	return lastName(e)
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
