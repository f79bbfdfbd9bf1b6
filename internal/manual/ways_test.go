package manual

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
)

var (
	inCode       = regexp.MustCompile("`([^`]+)`")
	functionName = regexp.MustCompile(`^(?:[A-Za-z]\w*\.)?[A-Za-z]\w*$`)
)

// The functions that the ways through the code of concepts.md name stand in the files that it names.
func TestTheWaysOfConceptsAreThroughTheCode(t *testing.T) {
	t.Parallel()
	_, ways, found := strings.Cut(read(t, "docs/concepts.md"), "\n## The ways through the code\n")
	if !found {
		t.Fatal("docs/concepts.md has no ways through the code")
	}
	ways, _, _ = strings.Cut(ways, "\n## ")
	declared, names := map[string]bool{}, []string{}
	for line := range strings.Lines(ways) {
		if !strings.HasPrefix(line, "| ") {
			continue
		}
		cells := strings.Split(line, " | ")
		for _, m := range inCode.FindAllStringSubmatch(cells[len(cells)-1], -1) {
			if name := m[1]; strings.HasSuffix(name, ".go") {
				declare(t, declared, name)
			} else if functionName.MatchString(name) {
				names = append(names, name)
			}
		}
	}
	if len(names) < 30 {
		t.Errorf("the ways name %d functions: does the test still read them?", len(names))
	}
	for _, name := range names {
		if !declared[name] {
			t.Errorf("no file that the ways name has the function %s", name)
		}
	}
}

// declare notes the functions and methods of a file.
func declare(t *testing.T, declared map[string]bool, name string) {
	t.Helper()
	file := must.Get(parser.ParseFile(token.NewFileSet(), "../../"+name, nil, 0))(t)
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		of := ""
		if f.Recv != nil {
			ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && of == "" {
					of = id.Name + "."
				}
				return true
			})
		}
		declared[of+f.Name.Name] = true
	}
}
