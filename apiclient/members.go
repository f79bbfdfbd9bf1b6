package apiclient

import (
	"bytes"
	"encoding/json"
	"errors"
)

// eachMember calls f for every top-level member of doc in its order, doubles included: encoding/json would keep the
// last and match names regardless of case. doc must already have passed json.Valid, which also bounds the depth; so
// nothing is checked here a second time. A value is a part of doc.
func eachMember(doc []byte, f func(key string, value json.RawMessage)) error {
	i := blanks(doc, 0)
	if i == len(doc) || doc[i] != '{' {
		return errors.New("not a JSON object")
	}
	for i = blanks(doc, i+1); i < len(doc) && doc[i] == '"'; {
		end := valueEnd(doc, i)
		key, err := memberName(doc[i:end])
		if err != nil {
			return err
		}
		from := blanks(doc, blanks(doc, end)+1) // behind the colon
		end = valueEnd(doc, from)
		f(key, json.RawMessage(doc[from:end:end]))
		if i = blanks(doc, end); i < len(doc) && doc[i] == ',' {
			i = blanks(doc, i+1)
		}
	}
	return nil
}

// memberName reads a quoted name.
func memberName(quoted []byte) (name string, err error) {
	plain := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(plain, '\\') < 0 && !bytes.ContainsFunc(plain, func(r rune) bool { return r >= 0x80 }) {
		return string(plain), nil
	}
	return name, json.Unmarshal(quoted, &name)
}

// blanks gives where the next byte is, at or after i, that is no white space.
func blanks(doc []byte, i int) int {
	for i < len(doc) && (doc[i] == ' ' || doc[i] == '\t' || doc[i] == '\n' || doc[i] == '\r') {
		i++
	}
	return i
}

// valueEnd gives where the value ends that begins at i.
func valueEnd(doc []byte, i int) int {
	depth, text := 0, false
	for ; i < len(doc); i++ {
		switch c := doc[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			if text = !text; !text && depth == 0 {
				return i + 1
			}
		case text:
		case c == '{', c == '[':
			depth++
		case c == '}', c == ']':
			if depth--; depth < 0 { // the end of what a number or a name stands in
				return i
			}
			if depth == 0 {
				return i + 1
			}
		case depth == 0 && (c == ',' || c == ' ' || c == '\t' || c == '\n' || c == '\r'):
			return i
		}
	}
	return i
}
