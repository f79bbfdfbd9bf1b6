package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/safrasync/safrasync/internal/phrase"
)

// node is one JSON value with its position, so that errors can name it.
type node struct {
	kind    kind
	text    string   // strings decoded, numbers as written
	flag    bool     // of a boolean
	members []member // of an object, in order, each name once (the last one, if a name appears twice)
	items   []*node  // of an array
	end     int64    // offset after the value's first token
}

type member struct {
	name  string
	value *node
}

// kind is a kind of JSON values, worded for error texts.
type kind = phrase.Packed

const (
	isObject kind = "an object"
	isArray  kind = "an array"
	isText   kind = "a text"
	isNumber kind = "a number"
	isBool   kind = "true or false"
	isNull   kind = "null"
)

// placeError is an error at an offset of the text.
type placeError struct {
	offset int64
	*phrase.Text
}

func placed(offset int64, format string, args ...any) error {
	return &placeError{offset, phrase.New(format, args...)}
}

// parse parses exactly one JSON value, from a file of ours. It is stricter than encoding/json: it
// refuses a member that appears twice (encoding/json silently takes the last), bytes that are not
// UTF-8 (encoding/json silently replaces them), and anything after the value. Every error is a
// *placeError.
func parse(data []byte) (*node, error) {
	p := parser{}
	return p.parse(data)
}

// parseLenient is parse for a request: a member may appear twice, and the last one counts, as in
// most servers. It returns the names of such members. RFC 8259 leaves their meaning open, and the
// API document does not mention them.
func parseLenient(data []byte) (n *node, twice []string, err error) {
	p := parser{lenient: true}
	n, err = p.parse(data)
	return n, p.twice, err
}

func (p *parser) parse(data []byte) (*node, error) {
	if !utf8.Valid(data) {
		return nil, placed(firstInvalid(data), "the text is not UTF-8")
	}
	var probe json.RawMessage
	var syntax *json.SyntaxError
	if err := json.Unmarshal(data, &probe); errors.As(err, &syntax) {
		return nil, placed(syntax.Offset, "this is no JSON: %w", err)
	}
	p.dec = json.NewDecoder(bytes.NewReader(data))
	p.dec.UseNumber()
	return p.value()
}

// parser builds nodes from tokens. The text is already known to be valid and not nested too deep, so
// tokens have no errors.
type parser struct {
	dec     *json.Decoder
	lenient bool
	twice   []string
}

func (p *parser) value() (n *node, err error) {
	tok, _ := p.dec.Token()
	n = &node{end: p.dec.InputOffset()}
	switch t := tok.(type) {
	case json.Delim:
		if t == '{' {
			n.kind = isObject
			err = p.object(n)
		} else {
			n.kind = isArray
			err = p.array(n)
		}
	case string:
		n.kind, n.text = isText, t
	case json.Number:
		n.kind, n.text = isNumber, t.String()
	case bool:
		n.kind, n.flag = isBool, t
	default:
		n.kind = isNull
	}
	return n, err
}

func (p *parser) object(n *node) error {
	seen := map[string]int{} // index in n.members
	for p.dec.More() {
		tok, _ := p.dec.Token()
		name, _ := tok.(string)
		at, again := seen[name]
		if again && !p.lenient {
			return placed(p.dec.InputOffset(), "the member %q stands twice", name)
		}
		value, err := p.value()
		if err != nil {
			return err
		}
		if again {
			p.twice = append(p.twice, name)
			n.members[at].value = value
			continue
		}
		seen[name] = len(n.members)
		n.members = append(n.members, member{name, value})
	}
	_, _ = p.dec.Token() // the end
	return nil
}

func (p *parser) array(n *node) error {
	for p.dec.More() {
		value, err := p.value()
		if err != nil {
			return err
		}
		n.items = append(n.items, value)
	}
	_, _ = p.dec.Token() // the end
	return nil
}

func firstInvalid(data []byte) int64 {
	at := 0
	for at < len(data) {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return int64(at)
}
