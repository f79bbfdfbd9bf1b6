package apiclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"unicode/utf16"
	"unicode/utf8"
)

// plainNumber is JSON number text without an exponent: money is written out.
var plainNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)

// encode marshals v without HTML escaping and without the line end that json.Encoder adds.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// required refuses a text that is missing. An empty text would be sent as "", and whether the
// platform takes that for absent is not documented.
func (in *inspection) required(field, value string) {
	if value == "" {
		in.fault(field, ProblemMissing, "is missing")
		return
	}
	in.optional(field, value)
}

// optional refuses text that is not UTF-8: encoding/json would alter it silently.
func (in *inspection) optional(field, value string) {
	if !utf8.ValidString(value) {
		in.fault(field, ProblemEncoding, "is not valid UTF-8; check the character set of the source")
	}
}

func (in *inspection) list(field string, values []string) {
	for i, v := range values {
		if v == "" {
			in.fault(field, ProblemEntry, "has an empty entry (number %d)", i+1)
			continue
		}
		in.optional(field, v)
	}
}

// number refuses what is not plain decimal text; encoding/json would write an empty number as 0.
func (in *inspection) number(field string, value json.Number) {
	switch {
	case value == "":
		in.fault(field, ProblemMissing, "is missing")
	case !plainNumber.MatchString(string(value)):
		in.fault(field, ProblemNumber, "is not a plain decimal number such as 1250.5")
	}
}

// atMost refuses a text above a limit of chapter 8. Characters are counted as UTF-16 does, which is
// never less than other ways of counting: the platform answers 500 to one character too many.
func (in *inspection) atMost(field, value string, limit int) {
	n := 0
	for _, r := range value {
		n += utf16.RuneLen(r)
	}
	if n > limit {
		in.fault(field, ProblemTooLong, "has %d characters; the platform takes at most %d", n, limit)
		in.faults[len(in.faults)-1].Limit = limit
	}
}

// document checks a CPF or CNPJ and writes it back as it is sent.
func (in *inspection) document(field string, value *string, parse func(string) (string, error)) {
	number, err := parse(*value)
	if err != nil {
		in.fault(field, ProblemDocument, "%v", err)
		return
	}
	*value = number
}

// anyDocument is ParseDocument without the person.
func anyDocument(s string) (string, error) {
	number, _, err := ParseDocument(s)
	return number, err
}

// eachMember calls f for every top-level member of doc in its order, doubles included:
// encoding/json would keep the last and match names regardless of case. doc must already have
// passed json.Valid, which also bounds the depth; so nothing is checked here a second time. A value
// is a part of doc.
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
