// The key of a row, and the code of a reference.

package mapping

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/trade"
)

// keyEscaper keeps the text forms of two different keys different.
var keyEscaper = strings.NewReplacer(`\`, `\\`, `|`, `\|`)

// JoinCode returns the text form of a key or of a reference's code: the parts in their normal form,
// escaped and joined with |.
func JoinCode(parts []string) string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = codePart(p)
	}
	return strings.Join(out, "|")
}

// codePart returns a part as it stands in a key or a code.
func codePart(part string) string { return keyEscaper.Replace(normalPart(part)) }

// normalPart returns the form in which the parts of keys and codes are compared: trimmed, and a UUID
// in lower case.
func normalPart(part string) string {
	part = strings.TrimSpace(part)
	if len(part) != 36 || part[8] != '-' || part[13] != '-' || part[18] != '-' || part[23] != '-' {
		return part
	}
	if _, err := uuid.Parse(part); err != nil {
		return part
	}
	return strings.ToLower(part)
}

// ConstPart returns how a constant part of a code stands among the columns of a [FieldSpec]: = and
// its text, which is no name of a column.
func ConstPart(text string) string { return "=" + text }

// ConstOf returns the text of a constant part; ok is false for a column.
func ConstOf(column string) (text string, ok bool) { return strings.CutPrefix(column, "=") }

// part returns a row's value in a column, or a constant part.
func (get ColumnsOf) part(column string) erp.Value {
	if text, ok := ConstOf(column); ok {
		return erp.Value{Kind: erp.Text, Text: text}
	}
	v, _ := get(column)
	return v
}

// SplitCode splits the text form of a key into its parts.
func SplitCode(text string) []string {
	var parts []string
	var part strings.Builder
	escaped := false
	for _, r := range text {
		switch {
		case escaped:
			part.WriteRune(r)
			escaped = false
		case r == '\\':
			escaped = true
		case r == '|':
			parts = append(parts, part.String())
			part.Reset()
		default:
			part.WriteRune(r)
		}
	}
	return append(parts, part.String())
}

// keyOf returns the key of a row in its normal form. The error names the column that makes the key
// unusable, or is an ErrKeyForm.
func keyOf(row erp.Row, columns []string) (string, error) {
	key := make([]byte, 0, 64)
	for i, name := range columns {
		v, ok := row.Get(name)
		switch {
		case !ok:
			return "", phrase.Errorf("key column %s is not in the query", name)
		case v.Err != "":
			return "", phrase.Errorf("key column %s cannot be read: %w", name, v.Err)
		case v.Kind == erp.Null:
			return "", phrase.Errorf("key column %s is NULL", name)
		}
		if i > 0 {
			key = append(key, '|')
		}
		key = append(key, codePart(PlainText(v))...)
	}
	switch {
	case len(bytes.Trim(key, "| ")) == 0:
		return "", phrase.Errorf("%w: every key column is blank", ErrKeyForm)
	case len(key) > MaxCode || bytes.IndexByte(key, 0) >= 0:
		return "", phrase.Errorf("%w: longer than %d bytes, or with a NUL character", ErrKeyForm, MaxCode)
	}
	return string(key), nil
}

// Spellings returns the keys under which the ERP has, or had, the rows of an entry, each as the
// database wrote it. It returns none if the configured key has another number of columns: the rows
// are not in the ERP any more.
func (j *Job) Spellings(e *trade.Entry) [][]trade.Cell {
	width := len(j.Spec.Key)
	if len(e.KeyParts)%width != 0 || len(SplitCode(e.Key)) != width {
		return nil
	}
	var out [][]trade.Cell
	for parts := range slices.Chunk(e.KeyParts, width) {
		if !slices.ContainsFunc(out, func(o []trade.Cell) bool { return slices.Equal(o, parts) }) {
			out = append(out, parts)
		}
	}
	return out
}

// ErrKeyForm means that every part of a key can be read, but the whole is not a valid key.
var ErrKeyForm = errors.New("no usable key")

// MaxCode is the longest key or code in bytes: an index of PostgreSQL takes 2,700 bytes, and no
// ERP's key comes near it.
const MaxCode = 1000

// Keepable reports whether every ledger can store a text as a key or a code: one row of the ERP
// must not stop the others.
func Keepable(text string) bool { return len(text) <= MaxCode && !strings.Contains(text, "\x00") }

// PlainText returns a value in the form in which keys, codes and value maps are compared: trimmed,
// and numbers without trailing zeros in the fraction.
func PlainText(v erp.Value) string {
	text := strings.TrimSpace(v.Text)
	if v.Kind != erp.Number && v.Kind != erp.Float {
		return text
	}
	if short, ok := shortNumber(text); ok {
		return short
	}
	if n, err := trade.ParseDecimal(text); err == nil {
		return n.String()
	}
	return text
}

// shortNumber returns what [trade.Decimal] writes for a number as databases write nearly all: of few
// digits, without a sign. A row of the ERP has several of them, and a sweep reads millions of rows.
func shortNumber(text string) (string, bool) {
	whole, fraction, point := strings.Cut(text, ".")
	if whole == "" || len(text) > 18 || whole[0] == '0' && whole != "0" || point && fraction == "" ||
		strings.Trim(whole, "0123456789") != "" || strings.Trim(fraction, "0123456789") != "" {
		return "", false
	}
	if point {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text, true
}

// CanonicalKey converts a key that a person typed to the ledger's form: without blanks around its
// parts, which the ERP may pad, and with each single backslash escaped.
func CanonicalKey(key string) string {
	var b strings.Builder
	for i := 0; i < len(key); i++ {
		b.WriteByte(key[i])
		if key[i] != '\\' {
			continue
		}
		if i+1 < len(key) && (key[i+1] == '|' || key[i+1] == '\\') {
			i++
			b.WriteByte(key[i])
		} else {
			b.WriteByte('\\')
		}
	}
	return NormalCode(b.String())
}

// CodeParts splits a code or key at each |. A | or \ that is escaped with \ does not split; it
// remains in its part, still escaped.
func CodeParts(code string) []string {
	var parts []string
	start, escaped := 0, false
	for i := range len(code) {
		switch {
		case escaped:
			escaped = false
		case code[i] == '\\':
			escaped = true
		case code[i] == '|':
			parts = append(parts, normalPart(code[start:i]))
			start = i + 1
		}
	}
	return append(parts, normalPart(code[start:]))
}

// NormalCode converts a code to the form that the engine builds from the ERP's columns: parts in
// their normal form, joined with |.
func NormalCode(code string) string { return strings.Join(CodeParts(code), "|") }

// IsBlankCode reports whether all parts of a code are blank.
func IsBlankCode(code string) bool { return strings.Trim(code, "| ") == "" }

// CodeOf returns the code that columns of a row make; a column that cannot be read is blank in it.
func CodeOf(get ColumnsOf, columns []string) string {
	texts := make([]string, len(columns))
	for i, column := range columns {
		if v := get.part(column); v.Err == "" && v.Kind != erp.Null {
			texts[i] = PlainText(v)
		}
	}
	return JoinCode(texts)
}
