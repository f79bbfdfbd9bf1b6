package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// errorBranches gives where the error branches of a file are.
func errorBranches(name string, text []byte) ([]span, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var found []span
	add := func(from, to token.Pos) {
		a, b := set.Position(from), set.Position(to)
		found = append(found, span{a.Line, a.Column, b.Line, b.Column})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			if looksAtError(n.Cond) || returnsNewError(n.Body.List) {
				add(n.Body.Pos(), n.Body.End())
			}
		case *ast.CaseClause:
			if slices.ContainsFunc(n.List, looksAtError) || returnsNewError(n.Body) {
				add(n.Colon, n.End())
			}
		}
		return true
	})
	return found, nil
}

// looksAtError tells whether a condition holds when there is an error.
func looksAtError(cond ast.Expr) bool {
	found := false
	ast.Inspect(cond, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.UnaryExpr: // !errors.Is(…) holds of other errors too, and of none
			return n.Op != token.NOT
		case *ast.BinaryExpr:
			found = found || n.Op == token.NEQ && isErrorName(n.X) && isNil(n.Y)
		case *ast.CallExpr:
			found = found || isOf(n.Fun, "errors", "Is", "As", "AsType")
		}
		return true
	})
	return found
}

// returnsNewError tells whether statements end with the return of an error that is made there.
func returnsNewError(body []ast.Stmt) bool {
	if len(body) == 0 {
		return false
	}
	last, ok := body[len(body)-1].(*ast.ReturnStmt)
	if !ok {
		return false
	}
	found := false
	ast.Inspect(last, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			found = found || isOf(n.Fun, "fmt", "Errorf") || isOf(n.Fun, "errors", "New")
		case *ast.CompositeLit:
			found = found || strings.HasSuffix(nameOf(n.Type), "Error")
		}
		return true
	})
	return found
}

func isErrorName(e ast.Expr) bool {
	name := nameOf(e)
	return name == "err" || strings.HasSuffix(name, "Err")
}

func isNil(e ast.Expr) bool { return nameOf(e) == "nil" }

// isOf tells whether an expression is one of these names of a package.
func isOf(e ast.Expr, pkg string, names ...string) bool {
	if generic, ok := e.(*ast.IndexExpr); ok {
		e = generic.X
	}
	s, ok := e.(*ast.SelectorExpr)
	return ok && nameOf(s.X) == pkg && slices.Contains(names, s.Sel.Name)
}

// nameOf is the name, or the last part of it.
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}
