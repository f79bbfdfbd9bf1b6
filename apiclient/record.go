package apiclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
)

// reader reads the fields of an object of which the document shows only a part. A field that is
// absent, null or of an unknown shape stays empty; one of an unknown shape is named in unread. No
// field is ever an error.
type reader struct {
	values map[string]json.RawMessage
	unread []string
	// raw is the whole object.
	raw json.RawMessage
}

var (
	errNotJSON   = errors.New("the answer is not one JSON document")
	errNotObject = errors.New("the answer is not a JSON object")
)

// readRecord prepares the fields of the object in body. A field that appears twice is not trusted; it
// is treated as one of an unknown shape. Duplicates of names that are not read do not matter.
func readRecord(body []byte) (*reader, error) {
	doc := bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	if !json.Valid(doc) {
		return nil, errNotJSON
	}
	r := &reader{values: map[string]json.RawMessage{}, raw: json.RawMessage(bytes.TrimSpace(doc))}
	err := eachMember(doc, func(key string, v json.RawMessage) {
		if _, twice := r.values[key]; twice {
			v = json.RawMessage(`[]`) // neither a text, a number nor a date
		}
		r.values[key] = v
	})
	if err != nil {
		return nil, errNotObject
	}
	return r, nil
}

// readOnly is readRecord for an answer that may also be a list of exactly one object.
func readOnly(body []byte) (*reader, error) {
	doc := bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	if kind(doc) == '[' {
		var list []json.RawMessage
		if json.Unmarshal(doc, &list) != nil {
			return nil, errNotJSON
		}
		if len(list) != 1 {
			return nil, errNotObject
		}
		doc = list[0]
	}
	return readRecord(doc)
}

// value returns the field, or nil if it is absent or null.
func (r *reader) value(name string) json.RawMessage {
	v := r.values[name]
	if string(v) == "null" {
		return nil
	}
	return v
}

func (r *reader) odd(name string) string {
	r.unread = append(r.unread, name)
	return ""
}

func (r *reader) text(name string) string {
	v := r.value(name)
	if v == nil {
		return ""
	}
	s, ok := text(v)
	if !ok {
		return r.odd(name)
	}
	return s
}

// loose accepts a text or an integer.
func (r *reader) loose(name string) string {
	if v := r.value(name); kind(v) == '0' {
		return string(v)
	}
	return r.text(name)
}

// uuid reads a UUID under any of names; if several are present they must agree.
func (r *reader) uuid(names ...string) string {
	var found string
	for _, name := range names {
		s := r.text(name)
		if s == "" {
			continue
		}
		id, err := parseUUID(s)
		if err != nil || found != "" && found != id {
			return r.odd(name)
		}
		found = id
	}
	return found
}

// anyID reads an id that is not necessarily a UUID.
func (r *reader) anyID(name string) string {
	v := r.value(name)
	if v == nil {
		return ""
	}
	id, err := parseAnyID(v)
	if err != nil {
		return r.odd(name)
	}
	return id
}

// number accepts a JSON number, or one in quotes.
func (r *reader) number(name string) json.Number {
	v := r.value(name)
	if v == nil {
		return ""
	}
	s, ok := text(v)
	if !ok {
		s = string(v)
	}
	if !anyNumber.MatchString(s) {
		return json.Number(r.odd(name))
	}
	return json.Number(s)
}

var anyNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// code accepts a text, or an object with the text "code".
func (r *reader) code(name string) string {
	v := r.value(name)
	if kind(v) != '{' {
		return r.text(name)
	}
	var code json.RawMessage
	n := 0
	err := eachMember(v, func(key string, value json.RawMessage) {
		if key == "code" {
			code = value
			n++
		}
	})
	s, ok := text(code)
	if err != nil || n != 1 || !ok {
		return r.odd(name)
	}
	return s
}

// dateText matches a date, alone or followed by a time.
var dateText = regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})(?:[T ].*)?$`)

// date reads a date; of a timestamp it returns the date as written, without applying a time zone.
func (r *reader) date(name string) string {
	s := r.text(name)
	if s == "" {
		return ""
	}
	m := dateText.FindStringSubmatch(s)
	if m == nil {
		return r.odd(name)
	}
	return m[1]
}
