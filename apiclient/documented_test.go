package apiclient_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
)

// sourceFiles parses the package's own files.
func sourceFiles(t *testing.T) []*ast.File {
	t.Helper()
	entries := must.Get(os.ReadDir("."))(t)
	var files []*ast.File
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f := must.Get(parser.ParseFile(token.NewFileSet(), e.Name(), nil, parser.ParseComments))(t)
		files = append(files, f)
	}
	return files
}

func comment(groups ...*ast.CommentGroup) string {
	var b strings.Builder
	for _, g := range groups {
		b.WriteString(g.Text())
	}
	return b.String()
}

// ofTheClient are the methods of Client that are no calls of the API.
var ofTheClient = map[string]bool{"Close": true, "String": true, "Format": true}

func TestEveryCallNamesItsChapter(t *testing.T) {
	t.Parallel()
	calls := 0
	for _, f := range sourceFiles(t) {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !fn.Name.IsExported() || receiver(fn) != "" && !ast.IsExported(receiver(fn)) {
				continue
			}
			said := comment(fn.Doc)
			if !strings.HasPrefix(said, fn.Name.Name+" ") {
				t.Errorf("%s has no comment that begins with its name", fn.Name.Name)
			}
			if receiver(fn) != "Client" || ofTheClient[fn.Name.Name] {
				continue
			}
			calls++
			if !strings.Contains(said, "chapter") && !strings.Contains(said, "ListWebhooks") {
				t.Errorf("Client.%s names no chapter", fn.Name.Name)
			}
		}
	}
	if calls < 14 {
		t.Errorf("only %d calls were found: does the test still read them?", calls)
	}
}

// receiver is the name of the type that a method is of, "" for a function.
func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return ""
	}
	t := fn.Recv.List[0].Type
	if pointer, ok := t.(*ast.StarExpr); ok {
		t = pointer.X
	}
	name, ok := t.(*ast.Ident)
	if !ok {
		return ""
	}
	return name.Name
}

// A field of a request names its chapter itself. A record that is read names it once, for all that
// the document shows of it.
func TestEveryExportedTypeAndFieldIsDocumentedAndEveryRequestFieldNamesItsChapter(t *testing.T) {
	t.Parallel()
	requestFields := 0
	eachType(t, func(name, said string, spec *ast.TypeSpec) {
		if !strings.HasPrefix(said, name+" ") {
			t.Errorf("%s has no comment that begins with its name", name)
		}
		body, ok := spec.Type.(*ast.StructType)
		if !ok {
			return
		}
		request := strings.HasSuffix(name, "Request") || strings.HasSuffix(name, "Query")
		for _, field := range body.Fields.List {
			for _, id := range field.Names {
				text := comment(field.Doc, field.Comment)
				switch {
				case !id.IsExported():
				case request:
					requestFields++
					if !strings.Contains(text, "chapter") {
						t.Errorf("%s.%s names no chapter", name, id.Name)
					}
				case text == "" && !strings.Contains(said, "chapter"):
					t.Errorf("%s.%s is documented neither by itself nor by a chapter of its type", name, id.Name)
				}
			}
		}
	})
	if requestFields < 45 {
		t.Errorf("only %d fields of requests were found: does the test still read them?", requestFields)
	}
}

// eachType calls f for every exported type with its comment.
func eachType(t *testing.T, f func(name, said string, spec *ast.TypeSpec)) {
	t.Helper()
	for _, file := range sourceFiles(t) {
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range g.Specs {
				if spec, ok := s.(*ast.TypeSpec); ok && spec.Name.IsExported() {
					f(spec.Name.Name, comment(g.Doc, spec.Doc), spec)
				}
			}
		}
	}
}
