package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/safrasync/safrasync/internal/phrase"
)

// The parser recurses for each level and compares each key with all earlier ones. Both are limited
// before it starts.
const (
	maxConfigDepth  = 20
	maxConfigTokens = 60_000
)

// Parse parses the file as one YAML document. It refuses anchors, aliases, tags and directives:
// they can make a small file expand, or give a text another type than it seems to have.
func (s *Source) Parse() (root ast.Node, err error) {
	defer func() {
		if recover() != nil { // a panic of the YAML library must not end the daemon on a reload
			root, err = nil, s.Refuse(0, 0, "cannot be read as YAML")
		}
	}()
	tokens := lexer.Tokenize(s.Text)
	if err := s.checkTokens(tokens); err != nil {
		return nil, s.orUnclosed(tokens, err)
	}
	// Walk reports duplicates, together with all other faults.
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
			return nil, s.Refuse(pos.Line, pos.Column,
				"only one document may stand in the file; delete the line --- and what follows")
		}
		root = doc.Body
	}
	if root == nil {
		return nil, s.Refuse(0, 0, "is empty; start from config.example.yaml, which explains every key")
	}
	return root, nil
}

// orUnclosed returns a better fault if a quote is not closed on its line. Such a quote ends at the
// opening quote of a later line, where the parser reports the fault; orUnclosed reports the line
// where it begins.
func (s *Source) orUnclosed(tokens token.Tokens, fault *Error) *Error {
	wrong := fault.Faults[0].Line
	for _, tk := range tokens {
		if tk.Type != token.SingleQuoteType && tk.Type != token.DoubleQuoteType {
			continue
		}
		begin := tk.Position
		if end := begin.Line + strings.Count(strings.TrimRight(tk.Origin, "\n"), "\n"); begin.Line < wrong &&
			wrong == end {
			return s.Refuse(begin.Line, begin.Column,
				"the quote that begins here has no end in its line; the next one, in line %d, ends it", end)
		}
	}
	return fault
}

// syntaxError keeps the library's text and place, but shows the line in our own form, which masks
// secrets.
func (s *Source) syntaxError(err error) *Error {
	syntax, ok := errors.AsType[interface {
		error
		GetMessage() string
		GetToken() *token.Token
	}](err)
	if !ok {
		return s.Refuse(0, 0, "cannot be read as YAML")
	}
	line, column := 0, 0
	if tk := syntax.GetToken(); tk != nil && tk.Position != nil {
		line, column = tk.Position.Line, tk.Position.Column
	}
	text := phrase.Fixed(strings.ReplaceAll(syntax.GetMessage(), "\t", `\t`))
	if strings.Contains(text.Error(), `'\t'`) {
		text = phrase.New("%w; indent with blanks, not with tabs", text)
	}
	return s.Refuse(line, column, "%w", text)
}

func (s *Source) checkTokens(tokens token.Tokens) *Error {
	if len(tokens) > maxConfigTokens {
		return s.Refuse(0, 0,
			"has more than %d words and signs; keep large de-para tables in the ledger (safrasync refs import)",
			maxConfigTokens)
	}
	out := &Error{}
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
			return s.Refuse(tk.Position.Line, tk.Position.Column,
				"more than %d levels in one another are no configuration", maxConfigDepth)
		}
		if text != "" && line != toldLine { // one fault a line: a schedule without quotes is five aliases
			toldLine = line
			one := s.Refuse(line, tk.Position.Column, "%w", phrase.Fixed(text))
			out.Faults = append(out.Faults, one.Faults...)
		}
	}
	if len(out.Faults) > 0 {
		return out
	}
	return nil
}

// Entry is one key with its value, or one item of a list.
type Entry struct {
	Path   string // like jobs.contracts.key[0]
	Name   string // the key as written
	keyPos *token.Position
	Value  ast.Node
	Keys   []Entry // if the value is a map
	Items  []Entry // if the value is a list
}

// pos returns where a fault of the value is shown: at the value if it is a scalar, otherwise at its
// key.
func (e Entry) pos() *token.Position {
	if _, isScalar := ScalarText(e.Value); isScalar {
		return e.Value.GetToken().Position
	}
	return e.keyPos
}

// IsMap reports whether an entry is a map.
func (e Entry) IsMap() bool {
	switch e.Value.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return true
	}
	return false
}

// IsList reports whether an entry is a list.
func (e Entry) IsList() bool {
	_, ok := e.Value.(*ast.SequenceNode)
	return ok
}

// IsNothing reports whether there is no value at all, as in "checks:" if all its keys are commented
// out.
func (e Entry) IsNothing() bool {
	n, ok := e.Value.(*ast.NullNode)
	return e.Value == nil || (ok && n.Token.Type == token.ImplicitNullType)
}

// ScalarText returns a single value as written, without quotes, so that values which YAML reads as
// numbers, bools or null keep their zeros and letters.
func ScalarText(node ast.Node) (string, bool) {
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

// IsQuoted reports whether a value is in quotes, which makes it a text.
func IsQuoted(node ast.Node) bool {
	tk := node.GetToken()
	return tk.Type == token.SingleQuoteType || tk.Type == token.DoubleQuoteType
}

// Walk builds a tree of entries, records duplicate keys as faults, and indexes each place by its
// path.
func (d *Decoder) Walk(root ast.Node) Entry {
	top := Entry{Value: root, keyPos: &token.Position{Line: 1, Column: 1}}
	d.fill(&top)
	return top
}

func (d *Decoder) fill(e *Entry) {
	var pairs []*ast.MappingValueNode
	switch n := e.Value.(type) {
	case *ast.MappingNode:
		pairs = n.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{n}
	case *ast.SequenceNode:
		for i, item := range n.Values {
			child := Entry{Path: fmt.Sprintf("%s[%d]", e.Path, i), keyPos: item.GetToken().Position, Value: item}
			d.fill(&child)
			e.Items = append(e.Items, child)
		}
	}
	seen := map[string]*token.Position{}
	for _, pair := range pairs {
		pos := pair.Key.GetToken().Position
		name, ok := ScalarText(pair.Key)
		if !ok {
			d.faultAt(e.Path, pos, "only a plain text can be a key")
			continue
		}
		if first, twice := seen[name]; twice {
			d.faultAt(e.Path, pos, "the key %s stands here a second time; the first is in line %d",
				ShortName(name), first.Line)
			continue
		}
		seen[name] = pos
		child := Entry{Path: joinPath(e.Path, name), Name: name, keyPos: pos, Value: pair.Value}
		d.fill(&child)
		e.Keys = append(e.Keys, child)
	}
	d.Index[e.Path] = *e
}

func joinPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// ShortName formats a key for a message: in backquotes, on one line, at most 60 characters.
func ShortName(name string) string {
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
