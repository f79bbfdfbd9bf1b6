package apiclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"strings"
)

// reader reads the fields of an object of which the document shows only a part. A field that is
// absent, null or of an unknown shape stays empty; one of an unknown shape is named in unread. No
// field is ever an error.
type reader struct {
	values map[string]json.RawMessage
	unread []string
}

// readers are the ways to read a field. The tag of a record's field names one of them, and the names
// of the field in the answer.
var readers = map[string]func(r *reader, name string) string{
	"text":  (*reader).text,
	"loose": (*reader).loose,
	"uuid":  (*reader).uuid,
	"anyID": (*reader).anyID,
	"code":  (*reader).code,
}

var (
	errNotJSON   = errors.New("the answer is not one JSON document")
	errNotObject = errors.New("the answer is not a JSON object")
)

// readObject reads the object in body, and returns it without what surrounds it. A field that appears
// twice is not trusted; it is treated as one of an unknown shape. Duplicates of names that are not
// read do not matter.
func readObject(body []byte) (*reader, json.RawMessage, error) {
	doc := bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	if !json.Valid(doc) {
		return nil, nil, errNotJSON
	}
	r := &reader{values: map[string]json.RawMessage{}}
	err := eachMember(doc, func(key string, v json.RawMessage) {
		if _, twice := r.values[key]; twice {
			v = json.RawMessage(`[]`) // neither a text, a number nor a date
		}
		r.values[key] = v
	})
	if err != nil {
		return nil, nil, errNotObject
	}
	return r, bytes.TrimSpace(doc), nil
}

// Received is what an answer had of a record, beside the fields that are known of it.
type Received struct {
	// Unread names the known fields that had an unknown shape or appeared twice.
	Unread []string
	// Raw is the whole object as received, including all fields that this program does not know.
	Raw json.RawMessage
}

// AsReceived returns it for any record.
func (r Received) AsReceived() Received { return r }

// readRecord reads the object in body as a T, a struct with Received.
func readRecord[T any](body []byte) (record T, err error) {
	r, raw, err := readObject(body)
	if err != nil {
		return record, err
	}
	into := reflect.ValueOf(&record).Elem()
	for i := range into.NumField() {
		how, name, tagged := strings.Cut(into.Type().Field(i).Tag.Get("read"), " ")
		if tagged {
			into.Field(i).SetString(readers[how](r, name))
		}
	}
	into.FieldByName("Unread").Set(reflect.ValueOf(r.unread))
	into.FieldByName("Raw").SetBytes(raw)
	return record, nil
}

// readOnly is readRecord for an answer that may also be a list of exactly one object.
func readOnly[T any](body []byte) (none T, err error) {
	doc := bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	if kind(doc) == '[' {
		var list []json.RawMessage
		if json.Unmarshal(doc, &list) != nil {
			return none, errNotJSON
		}
		if len(list) != 1 {
			return none, errNotObject
		}
		doc = list[0]
	}
	return readRecord[T](doc)
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

// uuid reads a UUID under any of names, with commas between; if several are present they must agree.
func (r *reader) uuid(names string) string {
	var found string
	for name := range strings.SplitSeq(names, ",") {
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
func (r *reader) number(name string) string {
	v := r.value(name)
	if v == nil {
		return ""
	}
	s, ok := text(v)
	if !ok {
		s = string(v)
	}
	if !anyNumber.MatchString(s) {
		return r.odd(name)
	}
	return s
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
