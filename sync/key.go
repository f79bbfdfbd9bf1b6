package sync

import (
	"errors"
	"fmt"
	"strings"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/trade"
)

// keyEscaper keeps two different keys different in their text form.
var keyEscaper = strings.NewReplacer(`\`, `\\`, `|`, `\|`)

// joinCode makes the text form of a key or of a reference's code: parts trimmed, escaped and joined with |.
func joinCode(parts []string) string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = keyEscaper.Replace(strings.TrimSpace(p))
	}
	return strings.Join(out, "|")
}

// splitCode takes the text form of a key apart.
func splitCode(text string) []string {
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

// rowKey reads the key of a row: its text form, and its parts as the database wrote them, for reading the row again. An error says
// which column makes the key unusable.
func rowKey(row erp.Row, columns []string) (string, []trade.Cell, error) {
	texts := make([]string, len(columns))
	cells := make([]trade.Cell, len(columns))
	for i, name := range columns {
		v, ok := row.Get(name)
		switch {
		case !ok:
			return "", nil, fmt.Errorf("key column %s is not in the query", name)
		case v.Err != "":
			return "", nil, fmt.Errorf("key column %s cannot be read: %s", name, v.Err)
		case v.Kind == erp.Null:
			return "", nil, fmt.Errorf("key column %s is NULL", name)
		}
		texts[i], cells[i] = plainText(v), cellOf(v)
	}
	key := joinCode(texts)
	switch {
	case strings.Trim(key, "| ") == "":
		return "", nil, fmt.Errorf("%w: every key column is blank", errKeyForm)
	case !keepable(key):
		return "", nil, fmt.Errorf("%w: longer than %d bytes, or with a NUL character", errKeyForm, maxCode)
	}
	return key, cells, nil
}

// errKeyForm says that every part of a key can be read, and the whole is no key all the same.
var errKeyForm = errors.New("no usable key")

// maxCode bounds a key and a code: an index of PostgreSQL takes 2,700 bytes, and no ERP's key comes near it.
const maxCode = 1000

// keepable tells whether every ledger can keep a text as a key or a code: one row of the ERP must not stop the others.
func keepable(text string) bool { return len(text) <= maxCode && !strings.Contains(text, "\x00") }

// plainText is a value as a key, a code or a map compares it: trimmed; numbers without zeros at the end of the fraction.
func plainText(v erp.Value) string {
	text := strings.TrimSpace(v.Text)
	if v.Kind == erp.Number || v.Kind == erp.Float {
		if n, err := trade.ParseDecimal(text); err == nil {
			return n.String()
		}
	}
	return text
}
