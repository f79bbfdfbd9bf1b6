package view

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template/parse"

	"github.com/safrasync/safrasync/internal/english"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// avoided are words that accountants do not use.
var avoided = regexp.MustCompile(
	`(?i)\b(payload|job|batch|deletar|commit|commitar|excluir|colheita|carteira digital)\b`)

// The console says nothing in the words of programmers (the glossary).
func TestTheConsoleSpeaksAsAccountantsDo(t *testing.T) {
	t.Parallel()
	keys := i18n.Console.Names("")
	for _, folder := range []string{"auth", "pages", "view", "web"} {
		keys = append(keys, must.Get(english.Literals("../"+folder+"/*.go"))(t)...)
	}
	for _, key := range keys {
		if word := avoided.FindString(i18n.Console.Text(trade.Portuguese, key)); word != "" {
			if _, said := i18n.SentenceForm(trade.Portuguese, key); said || i18n.Console.Has(key) {
				t.Errorf("%s says %q to accountants", key, word)
			}
		}
	}
}

// Every phrase that a template names exists, and so do those whose keys are put together.
func TestTemplatesNamePhrasesThatExist(t *testing.T) {
	t.Parallel()
	for name, page := range pages() {
		for _, part := range page.Templates() {
			if part.Tree == nil {
				continue
			}
			walk(part.Tree.Root, func(key string) {
				if _, said := i18n.SentenceForm(trade.Portuguese, key); !said && !i18n.Console.Has(key) {
					t.Errorf("%s names the phrase %q, which does not exist", name, key)
				}
				if word := avoided.FindString(i18n.Console.Text(trade.Portuguese, key)); word != "" {
					t.Errorf("%s says %q to accountants", name, word)
				}
			})
		}
		if !i18n.Console.Has(name+".title") && name != "error" && name != "row" && name != "act" {
			t.Errorf("page %s has no title", name)
		}
	}
}

// walk finds the keys in a template: constant texts that are given to T.
func walk(node parse.Node, found func(string)) {
	switch n := node.(type) {
	case *parse.ListNode:
		if n != nil {
			for _, child := range n.Nodes {
				walk(child, found)
			}
		}
	case *parse.ActionNode:
		walk(n.Pipe, found)
	case *parse.IfNode:
		walkBranch(&n.BranchNode, found)
	case *parse.RangeNode:
		walkBranch(&n.BranchNode, found)
	case *parse.WithNode:
		walkBranch(&n.BranchNode, found)
	case *parse.TemplateNode:
		walk(n.Pipe, found)
	case *parse.PipeNode:
		if n != nil {
			for _, c := range n.Cmds {
				walk(c, found)
			}
		}
	case *parse.CommandNode:
		method := n.Args[0].String()
		method = method[strings.LastIndex(method, ".")+1:]
		for i, arg := range n.Args {
			s, ok := arg.(*parse.StringNode)
			first := i == 1 && slices.Contains([]string{"T", "Alert", "Cell", "Fact", "Input"}, method)
			column := i > 0 && i != 2 && method == "Table" && !strings.HasPrefix(arg.String(), `"#`)
			if ok && (first || column) {
				found(s.Text)
			}
			walk(arg, found)
		}
	}
}

func walkBranch(b *parse.BranchNode, found func(string)) {
	walk(b.Pipe, found)
	walk(b.List, found)
	walk(b.ElseList, found)
}
