package apiclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/safrasync/safrasync/trade"
)

// plainNumber matches JSON number text without an exponent; amounts of money are written in full.
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

// Encode returns the body of a request with these fields as it is sent; the same fields always encode
// to the same bytes. Fields are in the order of the chapter, an empty one is left out (never sent as
// null, "" or 0), numbers are plain decimal text such as "1250.5" and are not quoted, and nothing is
// escaped for HTML. It refuses a required field that is empty, which for COMPRA includes the seven
// conditional fields (chapter 4, rule 1), a number that is not plain decimal text, and text that is
// not UTF-8 (encoding would alter it silently). Its error is a *RequestError that names all such
// fields, and never a value. It does not check whether a value is allowed; the platform does.
func Encode(kind trade.Kind, fields map[string]string) ([]byte, error) {
	var in inspection
	var body bytes.Buffer
	texts := json.NewEncoder(&body)
	texts.SetEscapeHTML(false)
	body.WriteByte('{')
	for _, rule := range trade.Rules(kind) {
		text := fields[rule.Field]
		needed := rule.Need == trade.Always ||
			rule.Need == trade.ForCompra && fields["order_type"] == string(trade.Compra)
		if rule.InPath || text == "" && !needed {
			continue
		}
		if body.Len() > 1 {
			body.WriteByte(',')
		}
		body.WriteString(`"` + rule.Field + `":`)
		if rule.Type == trade.Number {
			switch {
			case text == "":
				in.fault(rule.Field, ProblemMissing, "is missing")
			case !plainNumber.MatchString(text):
				in.fault(rule.Field, ProblemNumber, "is not a plain decimal number such as 1250.5")
			}
			body.WriteString(text)
			continue
		}
		in.required(rule.Field, text)
		_ = texts.Encode(text)        // of a text, which cannot fail
		body.Truncate(body.Len() - 1) // the line break of the encoder
	}
	if err := in.err(); err != nil {
		return nil, err
	}
	body.WriteByte('}')
	return body.Bytes(), nil
}

// months matches a number of months, from 1 to 999.
var months = regexp.MustCompile(`^[1-9][0-9]{0,2}$`)

// documents are the readers of CPF and CNPJ, by the check in the tag of a field.
var documents = map[string]func(string) (string, error){"document": anyDocument, "cnpj": ParseCNPJ}

// fields checks the texts of a request, in their order, and replaces documents by the form that is
// sent. A field with omitempty may be empty.
func (in *inspection) fields(request any) {
	from := reflect.ValueOf(request).Elem()
	for i := range from.NumField() {
		field, value := from.Type().Field(i), from.Field(i)
		if value.Kind() != reflect.String {
			continue
		}
		name, omitempty, _ := strings.Cut(field.Tag.Get("json"), ",")
		check := field.Tag.Get("check")
		parse, isDocument := documents[check]
		text := value.String()
		switch {
		case text == "" && omitempty != "":
		case isDocument:
			in.document(name, value.Addr().Interface().(*string), parse)
		default:
			in.required(name, text)
		}
		if check == "months" && text != "" && !months.MatchString(text) {
			in.fault(name, ProblemMonths, "is no number of months from 1 to 999")
		}
	}
}

// required refuses a text that is missing. An empty text would be sent as "", and it is not
// documented whether the platform treats that as absent.
func (in *inspection) required(field, value string) {
	if value == "" {
		in.fault(field, ProblemMissing, "is missing")
		return
	}
	in.optional(field, value)
}

// optional refuses text that is not UTF-8, which encoding/json would alter silently.
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

// atMost refuses a text above a limit of chapter 8. Characters are counted as UTF-16 code units,
// which is never less than other ways of counting, because the platform answers 500 to one
// character too many.
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

// document checks a CPF or CNPJ and replaces *value by the form that is sent.
func (in *inspection) document(field string, value *string, parse func(string) (string, error)) {
	number, err := parse(*value)
	if err != nil {
		in.fault(field, ProblemDocument, "%v", err)
		return
	}
	*value = number
}

func anyDocument(s string) (string, error) {
	number, _, err := ParseDocument(s)
	return number, err
}

// eachMember calls f for every top-level member of doc in order, duplicates included. (A map would
// keep the last one only, and encoding/json would match names regardless of case.) doc must have
// passed json.Valid.
func eachMember(doc []byte, f func(key string, value json.RawMessage)) error {
	dec := json.NewDecoder(bytes.NewReader(doc))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return errors.New("not a JSON object")
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		key, _ := name.(string)
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		f(key, value)
	}
	return nil
}
