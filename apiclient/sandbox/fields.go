package sandbox

import (
	"encoding/json"
	"regexp"
	"slices"
	"time"

	"github.com/google/uuid"
)

// field is one row of a table in chapter 2.
type field struct {
	name  string
	kind  kind // isText or isNumber
	valid func(text string) bool
	need  need
}

// need says when a field must be there.
type need int

const (
	always need = iota
	ifPurchase
)

// values are the fields of a body by name, each a text or a number as written.
type values map[string]*node

// readValues reads a body with these fields. False: the body is malformed, in any of the ways of the package comment's step 7.
func readValues(body []byte, fields []field) (values, bool) {
	root, err := parse(body)
	if err != nil || root.kind != isObject {
		return nil, false
	}
	got := values{}
	for _, m := range root.members {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == m.name })
		if i < 0 || m.value.kind != fields[i].kind {
			return nil, false
		}
		got[m.name] = m.value
	}
	return got, true
}

// check returns one key for each field that is missing or wrong, in the order of the table.
func (v values) check(fields []field, purchase bool) []string {
	var keys []string
	for _, f := range fields {
		n, given := v[f.name]
		switch {
		case !given && (f.need == always || f.need == ifPurchase && purchase):
			keys = append(keys, "message."+f.name+".mandatory")
		case given && !f.valid(n.text):
			keys = append(keys, "message."+f.name+".invalid")
		}
	}
	return keys
}

// text is the field's text, or its number as written; "" if absent.
func (v values) text(name string) string {
	if n, ok := v[name]; ok {
		return n.text
	}
	return ""
}

// decoded is the body for [Record.Fields].
func (v values) decoded() map[string]any {
	out := make(map[string]any, len(v))
	for name, n := range v {
		if n.kind == isNumber {
			out[name] = json.Number(n.text)
		} else {
			out[name] = n.text
		}
	}
	return out
}

// echo is the record as the API shows it: the id, then the fields that were sent, in the order of the table and with their digits as sent.
func (v values) echo(id string, fields []field) []byte {
	out := append([]byte(`{"id":`), encode(id)...)
	for _, f := range fields {
		n, ok := v[f.name]
		if !ok {
			continue
		}
		out = append(append(append(out, ','), encode(f.name)...), ':')
		if n.kind == isNumber {
			out = append(out, n.text...)
		} else {
			out = append(out, encode(n.text)...)
		}
	}
	return append(out, '}')
}

var seasonShape = regexp.MustCompile(`^[0-9]{4}/[0-9]{4}$`)

// isUUID takes the written form with hyphens only; the other forms that readers of UUIDs accept (braces, urn:, none) are mistakes here.
func isUUID(text string) bool {
	return len(text) == 36 && uuid.Validate(text) == nil
}

func isDate(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil && len(text) == len(time.DateOnly)
}

func isSeason(text string) bool { return seasonShape.MatchString(text) }

func anyNumber(string) bool { return true }

func oneOf(allowed ...string) func(string) bool {
	return func(text string) bool { return slices.Contains(allowed, text) }
}
