package faultlist

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const root = "../.."

var (
	inText = regexp.MustCompile(`\bF([0-9]{3})(?:[-–]F([0-9]{3}))?\b`)
	inName = regexp.MustCompile(`F([0-9]{3})`)
)

// borne gives the tests that bear each number, as "folder.Name", sorted.
func borne() (map[int][]string, error) {
	found := map[int]map[string]bool{}
	bear := func(test string, numbers []int) {
		for _, n := range numbers {
			if found[n] == nil {
				found[n] = map[string]bool{}
			}
			found[n][test] = true
		}
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch name := filepath.ToSlash(path); {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "bin" || strings.HasSuffix(name, "internal/faultlist")):
			return filepath.SkipDir
		case strings.HasSuffix(name, "_test.go"):
			return scanGo(path, bear)
		case strings.HasSuffix(name, ".txtar") && strings.Contains(name, "/testdata/script/"):
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for line := range strings.Lines(string(text)) {
				if strings.HasPrefix(line, "#") {
					bear("cmd/safrasync.TestScripts/"+strings.TrimSuffix(d.Name(), ".txtar"), numbersIn(line))
				}
			}
		}
		return nil
	})
	out := map[int][]string{}
	for n, tests := range found {
		out[n] = slices.Sorted(maps.Keys(tests))
	}
	return out, err
}

// numbersIn gives the numbers that a text names; F114-F117 are four.
func numbersIn(text string) (out []int) {
	for _, m := range inText.FindAllStringSubmatch(text, -1) {
		first, _ := strconv.Atoi(m[1]) // digits by the expression
		last := first
		if m[2] != "" {
			last, _ = strconv.Atoi(m[2])
		}
		for n := first; n <= last; n++ {
			out = append(out, n)
		}
	}
	return out
}

func scanGo(path string, bear func(test string, numbers []int)) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	folder, err := filepath.Rel(root, filepath.Dir(path))
	if err != nil {
		return err
	}
	tables := map[string][]int{} // package-level tables of this file
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
			for _, spec := range g.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names { //nolint:forcetypeassert // the specs of a var
					tables[name.Name] = literals(spec)
				}
			}
		}
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") {
			continue
		}
		test := filepath.ToSlash(folder) + "." + f.Name.Name
		for _, m := range inName.FindAllStringSubmatch(f.Name.Name, -1) {
			n, _ := strconv.Atoi(m[1]) // digits by the expression
			bear(test, []int{n})
		}
		bear(test, literals(f))
		for _, c := range file.Comments {
			if c == f.Doc || c.Pos() > f.Pos() && c.End() < f.End() {
				bear(test, numbersIn(c.Text()))
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				bear(test, tables[id.Name])
			}
			return true
		})
	}
	return nil
}

// literals gives the numbers in the texts of a piece of code.
func literals(node ast.Node) (out []int) {
	ast.Inspect(node, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			out = append(out, numbersIn(l.Value)...)
		}
		return true
	})
	return out
}
