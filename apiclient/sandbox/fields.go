package sandbox

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// field is one row of a table in chapter 2.
type field struct {
	name  string
	kind  kind                   // isText, isNumber, or isArray: a list of texts
	valid func(text string) bool // nil: the document states no shape
	need  need
	// unexpected: an invalid value gets a 403 in format (c) instead of a 400 (chapter 7, 403).
	unexpected bool
	// odd returns the code of a remark on a value that the document does not refuse, or ""; nil
	// means no remark. For a list it is called for each text.
	odd func(text string) string
}

// need states when a field is required.
type need int

const (
	always need = iota
	ifPurchase
	never
)

type values map[string]*node

// readBody reads a body with these fields. It refuses it with one key for each field that is
// missing or wrong, in the order of the table. What the document does not refuse is accepted with a
// remark.
func (rq *request) readBody(fields []field) (v values, refusal *answer) {
	root, err := parse(rq.body)
	if err != nil || root.kind != isObject {
		return nil, messages(http.StatusBadRequest, keyMalformed)
	}
	v = values{}
	for _, name := range slices.Sorted(maps.Keys(root.members)) {
		value := root.members[name]
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		switch {
		case i < 0:
			rq.remark(remarkUnknownMember, name) // the document does not refuse it; but it is usually a typing error
		case value.kind == isNull:
			rq.remark(remarkNull, name) // the document does not mention null; it counts as absent
		case value.kind != fields[i].kind, fields[i].kind == isArray &&
			slices.ContainsFunc(value.items, func(n *node) bool { return n.kind != isText }):
			return nil, messages(http.StatusBadRequest, keyMalformed)
		default:
			v[name] = value
		}
	}
	// An enumeration that the document answers with 403 fails while the body is converted, which
	// comes before its fields are checked.
	for _, f := range fields {
		if n, given := v[f.name]; given && f.unexpected && !f.valid(n.text) {
			return nil, unexpectedValue(rq.http, n.text)
		}
	}
	// The document states that a failed validation is a 400 in form (a) with several keys (chapter 7), and
	// shows one of them, message.name.mandatory. It does not show the keys of the other fields; they follow
	// that one and the message.<parameter>.invalid of form (b). Nor does it state whether a value outside an
	// enumeration gets a 400 or the 403 in form (c). The 403 names four enumerations, of which only
	// person_type occurs here (field.unexpected); all others break the list of allowed values and get a 400.
	// A text that is not a UUID where the table requires one counts as a wrong value and not as a wrong type,
	// because its JSON type is right.
	purchase := v.text("order_type") == "COMPRA"
	var keys []string
	for _, f := range fields {
		n, given := v[f.name]
		switch {
		case !given && (f.need == always || f.need == ifPurchase && purchase):
			keys = append(keys, "message."+f.name+".mandatory")
		case given && f.valid != nil && !f.valid(n.text):
			keys = append(keys, "message."+f.name+".invalid")
		}
	}
	if len(keys) > 0 {
		return nil, messages(http.StatusBadRequest, keys...)
	}
	for _, f := range fields {
		n, given := v[f.name]
		if !given || f.odd == nil {
			continue
		}
		if f.kind == isArray && len(n.items) == 0 {
			rq.remark(remarkEmpty, f.name)
		}
		for _, text := range n.texts() {
			if code := f.odd(text); code != "" {
				rq.remark(code, f.name)
			}
		}
	}
	return v, nil
}

// texts returns the texts of a list, or the one text or number.
func (n *node) texts() []string {
	if n.kind != isArray {
		return []string{n.text}
	}
	texts := make([]string, len(n.items))
	for i, item := range n.items {
		texts[i] = item.text
	}
	return texts
}

// text returns the field's text, or its number as written; "" if absent.
func (v values) text(name string) string {
	if n, ok := v[name]; ok {
		return n.text
	}
	return ""
}

// echo returns the record as the API shows it: the id, then the fields that were sent, in the order
// of the table, with numbers as sent.
func (v values) echo(id string, fields []field) []byte {
	out := append([]byte(`{"id":`), encode(id)...)
	for _, f := range fields {
		n, ok := v[f.name]
		if !ok {
			continue
		}
		out = append(append(append(out, ','), encode(f.name)...), ':')
		switch n.kind {
		case isNumber:
			out = append(out, n.text...)
		case isArray:
			out = append(out, encode(n.texts())...)
		default:
			out = append(out, encode(n.text)...)
		}
	}
	return append(out, '}')
}

var (
	// seasonShape is <year>/<year> (chapter 2.1), a year with four digits as in the document's
	// dates.
	seasonShape = regexp.MustCompile(`^[0-9]{4}/[0-9]{4}$`)
	// carShape is <state code>-<number>-<code> (chapter 2.2). The document does not state the form
	// of the two codes, so any is accepted; a state code that is not two letters gets a remark.
	carShape      = regexp.MustCompile(`^[A-Za-z0-9]+-[0-9]+-[^\s-][^\s]*$`)
	documentShape = regexp.MustCompile(`^([0-9]{11}|[0-9A-Z]{12}[0-9]{2})$`)
)

// isUUID accepts the form with hyphens only; the other forms that readers of UUIDs accept (braces,
// urn:, none) are mistakes here.
func isUUID(text string) bool {
	return len(text) == 36 && uuid.Validate(text) == nil
}

func isDate(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil && len(text) == len(time.DateOnly)
}

// isURI accepts every absolute URI (RFC 3986), whatever its scheme.
func isURI(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.IsAbs()
}

func oneOf(allowed ...string) func(string) bool {
	return func(text string) bool { return slices.Contains(allowed, text) }
}

// bareDocument returns a CPF or CNPJ without punctuation, with letters in upper case; false if text
// is neither. It does not verify check digits.
func bareDocument(text string) (string, bool) {
	bare := strings.ToUpper(strings.NewReplacer(".", "", "/", "", "-", "", " ", "").Replace(text))
	return bare, documentShape.MatchString(bare)
}
