package limits

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
)

// What a statement does stands on a line of its own, not between `if` and its condition, where a
// reader looks for the condition only. New variables, and an error alone that the condition is about,
// may stand there.
func TestTheHeadOfAnIfHasNoEffect(t *testing.T) {
	t.Parallel()
	for name, source := range readRepository(t, ".go") {
		set := token.NewFileSet()
		file := must.Get(parser.ParseFile(set, name, source, parser.SkipObjectResolution))(t)
		ast.Inspect(file, func(n ast.Node) bool {
			if head, ok := n.(*ast.IfStmt); ok && head.Init != nil && hasEffect(head.Init) {
				t.Errorf("%s: the head of the if does something: put it on the line before", set.Position(head.Pos()))
			}
			return true
		})
	}
}

func hasEffect(init ast.Stmt) bool {
	assign, ok := init.(*ast.AssignStmt)
	if !ok {
		return true
	}
	if assign.Tok == token.DEFINE {
		return false
	}
	name, ok := assign.Lhs[0].(*ast.Ident)
	return len(assign.Lhs) > 1 || !ok || !strings.HasSuffix(name.Name, "err")
}
