package config

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/safrasync/safrasync/internal/phrase"
)

// Decoder fills a [Config] from the tree of the file. It collects every fault, so that a person
// sees all of them at once.
type Decoder struct {
	Source  *Source
	secrets secretResolver
	Index   map[string]Entry
	Given   map[string]bool   // paths of the numbers and durations that were read
	Written map[string]string // values that contain ${…}, as written in the file
	Meant   map[string]bool   // paths that a misspelled key meant; not reported again as missing
	faults  []Fault
}

// NewDecoder returns a decoder for a file without secrets.
func NewDecoder(source *Source) *Decoder {
	return &Decoder{
		Source: source, Index: map[string]Entry{}, Given: map[string]bool{}, Written: map[string]string{},
		Meant: map[string]bool{},
	}
}

// decodable is a type that decodes itself.
type decodable interface {
	Decode(d *Decoder, e Entry)
}

// Fault records a fault at a path.
func (d *Decoder) Fault(path, format string, args ...any) {
	d.faults = append(d.faults, FaultAt(d.Source, d.Index, path, phrase.New(format, args...)))
}

func (d *Decoder) faultAt(path string, pos *token.Position, format string, args ...any) {
	d.faults = append(d.faults, Fault{
		File: d.Source.Name, Line: pos.Line, Column: pos.Column, Path: path, Text: phrase.New(format, args...),
		Excerpt: d.Source.excerpt(pos.Line, pos.Column),
	})
}

// Unknown records a name that is not one of the known names.
func (d *Decoder) Unknown(what, path string, e Entry, known []string) {
	if meant := Closest(e.Name, known); meant != "" {
		d.Meant[joinPath(path, meant)] = true
	}
	d.faultAt(path, e.keyPos, "%w", UnknownName(what, e.Name, known))
}

// faulty reports whether a fault was recorded at a path or below it; checks that depend on that
// value are then skipped.
func (d *Decoder) faulty(path string) bool {
	return slices.ContainsFunc(d.faults, func(f Fault) bool {
		rest, below := strings.CutPrefix(f.Path, path)
		return below && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

// Err returns all faults as one *Error, or nil.
func (d *Decoder) Err() error {
	if len(d.faults) == 0 {
		return nil
	}
	sortFaults(d.faults)
	return &Error{Faults: d.faults}
}

// Structure decodes a map whose keys are the yaml tags of a struct.
func (d *Decoder) Structure(e Entry, target any) {
	if !d.WantMap(e) {
		return
	}
	v := reflect.ValueOf(target).Elem()
	keys, fields := configKeys(v.Type())
	for _, child := range e.Keys {
		if field, known := fields[child.Name]; known {
			d.value(child, v.Field(field).Addr().Interface())
		} else {
			d.Unknown("unknown key %s", e.Path, child, keys)
		}
	}
}

// configKeys returns the yaml keys of a struct in field order, and the index of the field for each
// key.
func configKeys(t reflect.Type) (keys []string, fields map[string]int) {
	fields = map[string]int{}
	for i := range t.NumField() {
		if key := t.Field(i).Tag.Get("yaml"); key != "" && key != "-" {
			keys = append(keys, key)
			fields[key] = i
		}
	}
	return keys, fields
}

// WantMap reports whether an entry is a map or has no value; otherwise it records a fault.
func (d *Decoder) WantMap(e Entry) bool {
	if e.IsMap() || e.IsNothing() {
		return true
	}
	d.faultAt(e.Path, e.pos(), "must be a map of keys and values")
	return false
}

func (d *Decoder) value(e Entry, target any) {
	switch t := target.(type) {
	case decodable:
		t.Decode(d, e)
	case *string:
		if text, ok := d.word(e); ok {
			*t = text
		}
	case **string:
		if text, ok := d.SourceText(e); ok {
			*t = &text
		}
	case *[]string:
		*t = d.texts(e)
	case *time.Duration:
		text, ok := d.word(e)
		if !ok {
			return
		}
		parsed, err := parseConfigDuration(text)
		if err != nil {
			d.Fault(e.Path, "%w", err)
			return
		}
		*t, d.Given[e.Path] = parsed, true
	case *int:
		*t = int(d.integer(e))
	case **int32:
		n := d.integer(e)
		*t = &n
	case *float64:
		*t = d.number(e)
	case **PerConfig:
		*t = &PerConfig{}
		if e.IsMap() {
			d.Structure(e, *t)
		} else {
			(*t).Column, _ = d.word(e)
		}
	case **EmailConfig:
		*t = &EmailConfig{Security: "starttls"}
		d.Structure(e, *t)
	case **WebhookConfig:
		*t = &WebhookConfig{Form: "slack"}
		d.Structure(e, *t)
	case **OIDCConfig:
		*t = &OIDCConfig{RolesClaim: "groups"}
		d.Structure(e, *t)
	default:
		switch v := reflect.ValueOf(target).Elem(); v.Kind() {
		case reflect.Map: // with free names
			v.Set(reflect.MakeMap(v.Type()))
			if !d.WantMap(e) {
				return
			}
			for _, child := range e.Keys {
				item := reflect.New(v.Type().Elem())
				d.value(child, item.Interface())
				v.SetMapIndex(reflect.ValueOf(child.Name), item.Elem())
			}
		case reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
			d.Structure(e, v.Interface())
		default:
			d.Structure(e, target)
		}
	}
}

// word reads a text that must not be empty. It resolves references to secrets in the sections for
// which mayContainReferences returns true.
func (d *Decoder) word(e Entry) (string, bool) {
	text, ok := ScalarText(e.Value)
	if n := e.Value; ok && !IsQuoted(n) && slices.Contains([]string{"null", "Null", "NULL", "~"}, text) {
		ok, text = true, ""
	}
	switch {
	case e.IsNothing(), ok && strings.TrimSpace(text) == "":
		d.Fault(e.Path, "is empty; give it a value or delete the line")
		return "", false
	case !ok:
		d.Fault(e.Path, "must be one value, not a list or a map")
		return "", false
	case strings.Contains(text, FillIn): // also inside a query
		d.Fault(e.Path, stillToFillIn, FillIn)
		return "", false
	case !mayContainReferences(e.Path):
		return text, d.withoutReference(e.Path, text)
	}
	resolved, err := d.secrets.resolve(text)
	if err != nil {
		d.Fault(e.Path, "%w", err)
		return "", false
	}
	if strings.Contains(text, "${") {
		d.Written[e.Path] = text
	}
	return resolved, true
}

// withoutReference records a fault for a reference where none is resolved, because its text would
// be sent unchanged.
func (d *Decoder) withoutReference(path, text string) bool {
	if strings.Contains(text, "${env:") || strings.Contains(text, "${file:") {
		d.Fault(path, "${env:…} and ${file:…} are read under api, erp, state, alerts, webhooks, http_api, report and console.oidc only")
		return false
	}
	return true
}

// SourceText reads a text that is data: NO, 001 and null are taken as written.
func (d *Decoder) SourceText(e Entry) (string, bool) {
	text, ok := ScalarText(e.Value)
	switch {
	case e.IsNothing():
		d.Fault(e.Path, `has no value; write "" for an empty text`)
		return "", false
	case !ok:
		d.Fault(e.Path, "must be one value, not a list or a map")
		return "", false
	case text == FillIn:
		d.Fault(e.Path, stillToFillIn, FillIn)
		return "", false
	}
	return text, d.withoutReference(e.Path, text)
}

const stillToFillIn = "%s is still to be filled in; safrasync init could not tell what belongs here"

// StillToFillIn is the fault of a place that init left for a person to fill in.
var StillToFillIn = fmt.Sprintf(stillToFillIn, FillIn)

// texts reads a list of texts that are data.
func (d *Decoder) texts(e Entry) []string {
	if !e.IsList() || len(e.Items) == 0 {
		d.Fault(e.Path, "must be a list with at least one value, as in [a, b]")
		return nil
	}
	var out []string
	for _, item := range e.Items {
		if text, ok := d.SourceText(item); ok {
			out = append(out, text)
		}
	}
	return out
}

var (
	wholeNumber   = regexp.MustCompile(`^(0|[1-9][0-9]{0,9})$`)
	decimalNumber = regexp.MustCompile(`^(0|[1-9][0-9]{0,9})(\.[0-9]{1,6})?$`)
)

// integer reads a whole number in plain digits. It refuses 010, which some readers take for eight
// and others for ten.
func (d *Decoder) integer(e Entry) int32 {
	text, ok := ScalarText(e.Value)
	if ok && !IsQuoted(e.Value) && wholeNumber.MatchString(text) {
		if n, err := strconv.ParseInt(text, 10, 32); err == nil {
			d.Given[e.Path] = true
			return int32(n)
		}
	}
	d.Fault(e.Path, "must be a whole number in plain digits, as in 8")
	return 0
}

func (d *Decoder) number(e Entry) float64 {
	text, ok := ScalarText(e.Value)
	if ok && !IsQuoted(e.Value) && decimalNumber.MatchString(text) {
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			d.Given[e.Path] = true
			return n
		}
	}
	d.Fault(e.Path, "must be a number in plain digits, as in 20 or 0.5")
	return 0
}

var (
	durationForm = regexp.MustCompile(`^(?:([0-9]{1,5})d)?((?:[0-9]{1,9}(?:\.[0-9]{1,9})?(?:h|m|s|ms))*)$`)
	longestTime  = 3650 * 24 * time.Hour
)

// parseConfigDuration parses Go's durations, and days: 90s, 2h, 1d, 1d12h.
func parseConfigDuration(text string) (time.Duration, error) {
	m := durationForm.FindStringSubmatch(text)
	if m == nil || text == "" {
		return 0, phrase.Errorf("must be a time with its unit, as in 90s, 15m, 2h or 1d")
	}
	days, _ := strconv.Atoi(m[1]) // at most five digits, or none
	rest, err := time.ParseDuration(cmp.Or(m[2], "0s"))
	total := time.Duration(days)*day + rest
	if err != nil || rest > longestTime || total > longestTime {
		return 0, phrase.Errorf("is longer than 3650 days")
	}
	return total, nil
}

func mayContainReferences(path string) bool {
	section, _, _ := strings.Cut(path, ".")
	sections := []string{"api", "erp", "state", "alerts", "webhooks", "http_api", "report"}
	return slices.Contains(sections, section) || strings.HasPrefix(path, "console.oidc.")
}

// FillIn marks the places of a proposed configuration that only a person can fill in. Load refuses
// it.
const FillIn = "PREENCHER"

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
