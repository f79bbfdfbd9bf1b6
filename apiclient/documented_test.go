package apiclient_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// A call names the chapter it is of, and so does each field of a request. A record that is read
// names it once, for all that the document shows of it. (That all that is exported has a comment
// which begins with its name is asked by the linter: revive, exported.)
func TestEveryCallAndEveryFieldIsDocumentedAndNamesItsChapter(t *testing.T) {
	t.Parallel()
	set, files := token.NewFileSet(), []*ast.File{}
	for _, name := range must.Get(filepath.Glob("*.go"))(t) {
		if !strings.HasSuffix(name, "_test.go") {
			files = append(files, must.Get(parser.ParseFile(set, name, nil, parser.ParseComments))(t))
		}
	}
	calls, requestFields := 0, 0
	for _, kind := range trade.Kinds { // chapters 2.1 to 2.3
		requestFields += len(trade.Rules(kind))
	}
	for _, typ := range must.Get(doc.NewFromFiles(set, files, "apiclient"))(t).Types {
		for _, m := range typ.Methods {
			if typ.Name != "Client" || m.Name == "Close" || m.Name == "String" || m.Name == "Format" {
				continue // no calls of the API
			}
			calls++
			if !strings.Contains(m.Doc, "chapter") && !strings.Contains(m.Doc, "ListWebhooks") {
				t.Errorf("Client.%s names no chapter", m.Name)
			}
		}
		body, ok := typ.Decl.Specs[0].(*ast.TypeSpec).Type.(*ast.StructType)
		if !ok {
			continue
		}
		request := strings.HasSuffix(typ.Name, "Request") || strings.HasSuffix(typ.Name, "Query")
		for _, field := range body.Fields.List {
			text := field.Doc.Text() + field.Comment.Text()
			for _, name := range field.Names {
				switch {
				case request:
					requestFields++
					if !strings.Contains(text, "chapter") {
						t.Errorf("%s.%s names no chapter", typ.Name, name)
					}
				case text == "" && !strings.Contains(typ.Doc, "chapter"):
					t.Errorf("%s.%s is documented neither by itself nor by a chapter of its type", typ.Name, name)
				}
			}
		}
	}
	if calls < 14 || requestFields < 45 {
		t.Errorf("only %d calls and %d fields of requests were found: does the test still read them?", calls, requestFields)
	}
}
