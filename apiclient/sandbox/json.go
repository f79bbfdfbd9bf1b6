package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/safrasync/safrasync/internal/phrase"
)

// node is one JSON value.
type node struct {
	kind    kind
	text    string           // strings decoded, numbers as written
	flag    bool             // of a boolean
	members map[string]*node // of an object
	items   []*node          // of an array
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

// parse parses exactly one JSON value. A member may appear twice, and the last one counts, as in
// most servers. Bytes that are not UTF-8 are refused (encoding/json silently replaces them).
func parse(data []byte) (*node, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("the text is not UTF-8")
	}
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		return nil, phrase.Errorf("this is no JSON: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, phrase.Errorf("this is no JSON: %w", err)
	}
	return nodeOf(value), nil
}

func nodeOf(value any) *node {
	n := &node{kind: isNull}
	switch v := value.(type) {
	case map[string]any:
		n.kind, n.members = isObject, make(map[string]*node, len(v))
		for name, member := range v {
			n.members[name] = nodeOf(member)
		}
	case []any:
		n.kind, n.items = isArray, make([]*node, len(v))
		for i, item := range v {
			n.items[i] = nodeOf(item)
		}
	case string:
		n.kind, n.text = isText, v
	case json.Number:
		n.kind, n.text = isNumber, v.String()
	case bool:
		n.kind, n.flag = isBool, v
	}
	return n
}
