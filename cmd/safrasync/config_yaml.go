package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// The parser needs a stack for each level and looks at all earlier keys for each key, so both are
// bounded before it starts.
const (
	maxConfigDepth  = 20
	maxConfigTokens = 60_000
)

// parse reads the file as one YAML document without anchors, aliases, tags and directives: nothing
// that makes a small file large, or a text mean another type than it seems.
func (s *configSource) parse() (root ast.Node, err error) {
	defer func() {
		if recover() != nil { // a fault of the YAML library must not end the daemon's reload
			root, err = nil, s.refuse(0, 0, "cannot be read as YAML")
		}
	}()
	tokens := lexer.Tokenize(s.text)
	if err := s.checkTokens(tokens); err != nil {
		return nil, s.orUnclosed(tokens, err)
	}
	// duplicates are told by walk, with all other faults
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, s.orUnclosed(tokens, s.syntaxError(err))
	}
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if root != nil {
			pos := doc.Body.GetToken().Position
			return nil, s.refuse(pos.Line, pos.Column,
				"only one document may stand in the file; delete the line --- and what follows")
		}
		root = doc.Body
	}
	if root == nil {
		return nil, s.refuse(0, 0, "is empty; start from config.example.yaml, which explains every key")
	}
	return root, nil
}

// orUnclosed shows where a quote begins that ends only at a quote of a later line, where the fault
// is: that one was to begin a text, and the first one was left open.
func (s *configSource) orUnclosed(tokens token.Tokens, fault *ConfigError) *ConfigError {
	wrong := fault.Faults[0].Line
	for _, tk := range tokens {
		if tk.Type != token.SingleQuoteType && tk.Type != token.DoubleQuoteType {
			continue
		}
		begin := tk.Position
		if end := begin.Line + strings.Count(strings.TrimRight(tk.Origin, "\n"), "\n"); begin.Line < wrong &&
			wrong == end {
			return s.refuse(begin.Line, begin.Column,
				fmt.Sprintf("the quote that begins here has no end in its line; the next one, in line %d, ends it",
					end))
		}
	}
	return fault
}

// syntaxError keeps the library's words and place, and shows the line in our own way, which masks
// secrets.
func (s *configSource) syntaxError(err error) *ConfigError {
	syntax, ok := errors.AsType[interface {
		error
		GetMessage() string
		GetToken() *token.Token
	}](err)
	if !ok {
		return s.refuse(0, 0, "cannot be read as YAML")
	}
	line, column := 0, 0
	if tk := syntax.GetToken(); tk != nil && tk.Position != nil {
		line, column = tk.Position.Line, tk.Position.Column
	}
	text := strings.ReplaceAll(syntax.GetMessage(), "\t", `\t`)
	if strings.Contains(text, `'\t'`) {
		text += "; indent with blanks, not with tabs"
	}
	return s.refuse(line, column, text)
}

func (s *configSource) checkTokens(tokens token.Tokens) *ConfigError {
	if len(tokens) > maxConfigTokens {
		return s.refuse(0, 0,
			fmt.Sprintf(
				"has more than %d words and signs; keep large de-para tables in the ledger (safrasync refs import)",
				maxConfigTokens))
	}
	out := &ConfigError{}
	flow, dashes, line, toldLine := 0, 0, 0, 0
	for _, tk := range tokens {
		if tk.Position.Line != line {
			line, dashes = tk.Position.Line, 0
		}
		text := ""
		switch tk.Type {
		case token.AnchorType:
			text = "anchors (&) are not read here: name the map under values: instead; a text that begins with & needs quotes"
		case token.AliasType:
			text = `aliases (*) are not read here; a text that begins with * needs quotes, as in "*/10 * * * *"`
		case token.MergeKeyType:
			text = "merge keys (<<) are not read here: write the keys out"
		case token.TagType:
			text = "tags (!) are not read here; a text that begins with ! needs quotes"
		case token.DirectiveType:
			text = "directives (%) are not read here; a text that begins with % needs quotes"
		case token.MappingKeyType:
			text = "keys that begin with ? are not read here; a text that begins with ? needs quotes"
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType:
			dashes++
		}
		if flow > maxConfigDepth || dashes > maxConfigDepth {
			return s.refuse(tk.Position.Line, tk.Position.Column,
				fmt.Sprintf("more than %d levels in one another are no configuration", maxConfigDepth))
		}
		if text != "" && line != toldLine { // a schedule without quotes is five aliases
			toldLine = line
			out.Faults = append(out.Faults, s.refuse(tk.Position.Line, tk.Position.Column, text).Faults...)
		}
	}
	if len(out.Faults) > 0 {
		return out
	}
	return nil
}

// configEntry is one key with its value, or one item of a list.
type configEntry struct {
	path   string // like jobs.contracts.key[0]
	name   string // the key as it is written
	keyPos *token.Position
	value  ast.Node
	keys   []configEntry // when the value is a map
	items  []configEntry // when it is a list
}

// pos is where a fault of the value is shown: a value that spreads over lines, or is not there, is
// shown at its key.
func (e configEntry) pos() *token.Position {
	if _, isScalar := scalarText(e.value); isScalar {
		return e.value.GetToken().Position
	}
	return e.keyPos
}

func (e configEntry) isMap() bool {
	switch e.value.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return true
	}
	return false
}

func (e configEntry) isList() bool {
	_, ok := e.value.(*ast.SequenceNode)
	return ok
}

// isNothing tells whether there is no value at all, as in "checks:" with all its keys commented
// out.
func (e configEntry) isNothing() bool {
	n, ok := e.value.(*ast.NullNode)
	return e.value == nil || (ok && n.Token.Type == token.ImplicitNullType)
}

// scalarText gives a single value as it is written, without the quotes: no number, bool or null of
// YAML loses its zeros or its letters.
func scalarText(node ast.Node) (string, bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.NullNode:
		return n.Token.Value, n.Token.Type != token.ImplicitNullType
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return node.GetToken().Value, true
	}
	return "", false
}

// isQuoted tells whether a value is a text for certain.
func isQuoted(node ast.Node) bool {
	tk := node.GetToken()
	return tk.Type == token.SingleQuoteType || tk.Type == token.DoubleQuoteType
}

// walk makes a tree of entries, finds duplicate keys and remembers each place by its path.
func (d *configDecoder) walk(root ast.Node) configEntry {
	top := configEntry{value: root, keyPos: &token.Position{Line: 1, Column: 1}}
	d.fill(&top)
	return top
}

func (d *configDecoder) fill(e *configEntry) {
	var pairs []*ast.MappingValueNode
	switch n := e.value.(type) {
	case *ast.MappingNode:
		pairs = n.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{n}
	case *ast.SequenceNode:
		for i, item := range n.Values {
			child := configEntry{path: fmt.Sprintf("%s[%d]", e.path, i), keyPos: item.GetToken().Position, value: item}
			d.fill(&child)
			e.items = append(e.items, child)
		}
	}
	seen := map[string]*token.Position{}
	for _, pair := range pairs {
		pos := pair.Key.GetToken().Position
		name, ok := scalarText(pair.Key)
		if !ok {
			d.faultAt(e.path, pos, "only a plain text can be a key")
			continue
		}
		if first, twice := seen[name]; twice {
			d.faultAt(e.path, pos, fmt.Sprintf("the key %s stands here a second time; the first is in line %d",
				shortName(name), first.Line))
			continue
		}
		seen[name] = pos
		child := configEntry{path: joinPath(e.path, name), name: name, keyPos: pos, value: pair.Value}
		d.fill(&child)
		e.keys = append(e.keys, child)
	}
	d.index[e.path] = *e
}

func joinPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// shortName shows a key: in backquotes, on one line, not endless.
func shortName(name string) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r == '`' {
			return ' '
		}
		return r
	}, name))
	if len(runes) > 60 {
		runes = append(runes[:60], '…')
	}
	return "`" + string(runes) + "`"
}
