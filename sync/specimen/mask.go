package specimen

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// masker replaces texts. Equal texts get the same mask, because it is made from the text and a secret
// that nobody keeps.
type masker struct {
	secret []byte
	job    *mapping.Job      // the real one
	try    byte              // another mask for everything, while the rules judge the masked row differently
	known  map[string]string // keys and codes, as they are in the masked row
}

func (m *masker) random(text string) *rand.Rand {
	h := hmac.New(sha256.New, m.secret)
	h.Write([]byte{m.try})
	h.Write([]byte(text))
	sum := h.Sum(nil)
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum), binary.BigEndian.Uint64(sum[8:])))
}

// text masks a text: a digit but zero becomes another digit but zero, a letter another letter of its
// case. Hexadecimal digits stay such, everything else stays as it is.
func (m *masker) text(text string) string {
	return m.like(text, strings.TrimSpace(text))
}

// like masks a text as another one with the same characters would be masked, for numbers that are
// written in two forms.
func (m *masker) like(text, as string) string {
	random := m.random(as)
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '1' && r <= '9':
			return another(random, r, "123456789")
		case r == '0':
			return r
		case strings.ContainsRune("abcdef", r):
			return another(random, r, "abcdef")
		case strings.ContainsRune("ABCDEF", r):
			return another(random, r, "ABCDEF")
		case r >= 'g' && r <= 'z':
			return another(random, r, "ghijklmnopqrstuvwxyz")
		case r >= 'G' && r <= 'Z':
			return another(random, r, "GHIJKLMNOPQRSTUVWXYZ")
		case r < utf8.RuneSelf:
			return r
		case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r):
			return hidden(r)
		}
		return r
	}, text)
}

// another returns one of the characters that is not r.
func another(random *rand.Rand, r rune, of string) rune {
	at := strings.IndexRune(of, r)
	return rune(of[(at+1+random.IntN(len(of)-1))%len(of)])
}

// hidden returns the same character for all others that take as many bytes.
func hidden(r rune) rune {
	switch utf8.RuneLen(r) {
	case 2:
		if unicode.IsUpper(r) {
			return 'Ø'
		}
		return 'ø'
	case 3:
		return 'ꝋ'
	}
	return '𐐬'
}

// number masks a number so that 1500.50 and 1500.5 stay equal. An exponent stays.
func (m *masker) number(text string) string {
	digits, exponent := text, ""
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		digits, exponent = text[:at], text[at:]
	}
	plain := digits
	if n, err := trade.ParseDecimal(strings.TrimSpace(digits)); err == nil {
		plain = strings.TrimPrefix(n.String(), "-")
	}
	return m.like(digits, plain) + exponent
}

// carBegin is how a CAR begins, with the state and its number, which say where and not who.
var carBegin = regexp.MustCompile(`^\s*([A-Za-z]{2})([-. ]+)(\d{2})`)

// car masks the registration of a property, but not its state.
func (m *masker) car(text string) string {
	at := len(carBegin.FindString(text))
	return text[:at] + m.text(text[at:])
}

// document masks a CPF or CNPJ: a right one becomes another right one, a wrong one is wrong in the same
// way.
func (m *masker) document(v erp.Value) string {
	was, wrong := mapping.DocumentOf(v)
	var at []int // the characters of the number
	for i := range len(v.Text) {
		if c := v.Text[i]; c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
			at = append(at, i)
		}
	}
	out := []byte(m.text(v.Text))
	if len(at) < 3 || len(out) != len(v.Text) {
		return string(out)
	}
	if !slices.ContainsFunc(at, func(i int) bool { return v.Text[i] != v.Text[at[0]] }) { // one digit repeated
		for _, i := range at {
			out[i] = out[at[0]]
		}
		return string(out)
	}
	if wrong != nil {
		return string(out)
	}
	_, person, _ := apiclient.ParseDocument(was)
	for n := range 100 {
		out[at[len(at)-2]], out[at[len(at)-1]] = '0'+byte(n/10), '0'+byte(n%10)
		now, err := mapping.DocumentOf(erp.Value{Kind: v.Kind, Text: string(out)})
		if _, kind, _ := apiclient.ParseDocument(now); err == nil && kind == person {
			break
		}
	}
	return string(out)
}

// code masks the keyed hash of a document.
func (m *masker) code(code string) string {
	h := hmac.New(sha256.New, m.secret)
	h.Write([]byte("code " + code))
	return hex.EncodeToString(h.Sum(nil))[:len(code)]
}

// cell masks a value of a column.
func (m *masker) cell(column string, c trade.Cell) trade.Cell {
	get := mapping.ColumnsIn(trade.Values{column: c})
	v, _ := get(column)
	switch {
	case c.Kind == 0:
	case c.Kind == trade.Marked:
		c.Text = ""
	case c.Kind == mapping.Sealed && len(c.Text) >= mapping.CodeLength:
		c.Text = m.code(c.Text[:mapping.CodeLength]) + c.Text[mapping.CodeLength:]
	case v.Err != "":
		reason, args, _ := strings.Cut(c.Text, "\t")
		c.Text = strings.TrimSuffix(reason+"\t"+m.text(args), "\t")
	case m.job.Named(column, v):
	default:
		c.Text = m.value(column, v)
	}
	return c
}

// value masks a value by what its column is used for.
func (m *masker) value(column string, v erp.Value) string {
	for _, f := range m.job.Mapping.Fields {
		if !slices.ContainsFunc(f.Spec.Columns, func(c string) bool { return strings.EqualFold(c, column) }) {
			continue
		}
		switch {
		case f.Spec.Lookup != "":
			return m.document(v)
		case f.Rule.Type == trade.CAR:
			return m.car(v.Text)
		}
	}
	if v.Kind == erp.Number || v.Kind == erp.Float {
		return m.number(v.Text)
	}
	return m.text(v.Text)
}

func (m *masker) values(values trade.Values) trade.Values {
	if values == nil {
		return nil
	}
	out := trade.Values{}
	for column, c := range values {
		out[column] = m.cell(column, c)
	}
	return out
}

// key masks the text of a key or code of another row.
func (m *masker) key(key string) string {
	if mask, ok := m.known[key]; ok {
		return mask
	}
	parts := mapping.SplitCode(key)
	for i, part := range parts {
		parts[i] = m.text(part)
	}
	return mapping.JoinCode(parts)
}

// sent masks a text of a field as it is sent.
func (m *masker) sent(rule trade.FieldRule, text string) string {
	switch {
	case mapping.NamedText(rule, text):
		return text
	case rule.Type == trade.Number:
		return m.number(text)
	case rule.Type == trade.CAR:
		return m.car(text)
	}
	return m.text(text)
}

// body masks the body of a request. would and masked are the fields that the row would send now, and
// those of the masked row: what was sent as it would be sent now stays so.
func (m *masker) body(kind trade.Kind, body json.RawMessage, would, masked map[string]string) json.RawMessage {
	var fields map[string]json.RawMessage
	if len(body) == 0 || json.Unmarshal(body, &fields) != nil {
		return nil
	}
	for name, raw := range fields {
		text, quoted := string(raw), false
		if json.Unmarshal(raw, &text) == nil {
			quoted = true
		}
		rule, _ := trade.Rule(kind, name)
		if text == would[name] {
			text = masked[name]
		} else {
			text = m.sent(rule, text)
		}
		fields[name] = json.RawMessage(text)
		if quoted {
			fields[name], _ = json.Marshal(text)
		}
	}
	out, _ := json.Marshal(fields)
	return out
}

// answer masks an answer of the platform. Its form, its numbers of status, its keys of messages, and
// the values of fields that say nothing of a person stay.
func (m *masker) answer(kind trade.Kind, text string) string {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var parsed any
	if d.Decode(&parsed) != nil {
		return m.text(text)
	}
	out, err := json.Marshal(m.tree(kind, "", parsed))
	if err != nil {
		return ""
	}
	return string(out)
}

// tree masks a part of an answer, which stands under a name.
func (m *masker) tree(kind trade.Kind, name string, node any) any {
	switch t := node.(type) {
	case string:
		if rule, ok := trade.Rule(kind, name); ok {
			return m.sent(rule, t)
		}
		return m.message(t)
	case json.Number:
		if len(t) == 3 && strings.HasPrefix(name, "status") {
			return t
		}
		return json.Number(m.number(string(t)))
	case []any:
		for i := range t {
			t[i] = m.tree(kind, name, t[i])
		}
	case map[string]any:
		out := map[string]any{}
		for name, of := range t {
			out[m.name(name)] = m.tree(kind, name, of)
		}
		return out
	}
	return node
}

// message leaves the platform's own keys as they are; any other may be free text.
func (m *masker) message(text string) string {
	if apiclient.IsMessageKey(text) {
		return text
	}
	return m.text(text)
}

var plainName = regexp.MustCompile(`^[a-z][a-z_]{0,30}$`)

// name leaves the names of fields as they are, and masks what may be a text in their place.
func (m *masker) name(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	return m.text(name)
}

// sentence keeps the code of a sentence and masks what is put into it.
func (m *masker) sentence(s trade.Sentence) trade.Sentence {
	out := trade.Sentence{Code: s.Code}
	for name, arg := range s.Args {
		if out.Args == nil {
			out.Args = trade.Args{}
		}
		out.Args[name] = m.argument(name, arg)
	}
	return out
}

// plainArguments are arguments of sentences that name no row and no person.
var plainArguments = []string{"form", "status", "state", "now", "rule", "field", "job", "kind", "at", "until", "since"}

func (m *masker) argument(name string, arg any) any {
	switch t := arg.(type) {
	case string:
		if slices.Contains(plainArguments, name) || apiclient.IsMessageKey(t) {
			return t
		}
		return m.key(t)
	case json.Number:
		if len(t) > 3 { // no count, and no status
			return json.Number(m.number(string(t)))
		}
	case trade.Sentence:
		return m.sentence(t)
	case []any:
		out := make([]any, len(t))
		for i := range t {
			out[i] = m.argument(name, t[i])
		}
		return out
	}
	return arg
}
