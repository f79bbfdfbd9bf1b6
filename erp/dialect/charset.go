package dialect

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"github.com/safrasync/safrasync/erp/fault"
	"github.com/safrasync/safrasync/erp/sqltext"
	"github.com/safrasync/safrasync/internal/phrase"
)

// Charset converts the bytes of a database that does not know its own encoding to text. The zero
// value is UTF-8.
type Charset struct {
	name  string
	Table *charmap.Charmap
}

var charsets = map[string]*charmap.Charmap{
	"WIN1252": charmap.Windows1252, "WINDOWS1252": charmap.Windows1252, "CP1252": charmap.Windows1252,
	"LATIN1": charmap.ISO8859_1, "ISO88591": charmap.ISO8859_1,
	"LATIN9": charmap.ISO8859_15, "ISO885915": charmap.ISO8859_15,
	"CP850": charmap.CodePage850, "CP437": charmap.CodePage437,
}

// FindCharset returns the charset for a name in SourceOptions.Charset.
func FindCharset(name string) (Charset, *fault.Error) {
	fold := strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToUpper(name))
	if fold == "" || fold == "UTF8" {
		return Charset{}, nil
	}
	table, ok := charsets[fold]
	if !ok {
		return Charset{}, fault.Failf(fault.CodeConfig, "unknown charset %q: use UTF8, WIN1252, LATIN1, LATIN9, CP850 or CP437",
			name)
	}
	return Charset{name: name, Table: table}, nil
}

// UnknownCharset reports whether a database with this charset (Facts.Charset) stores whatever bytes
// programs have sent.
func UnknownCharset(name string) bool {
	return name == "SQL_ASCII" || name == "NONE" || name == "OCTETS"
}

// decode returns the text, or the reason why the bytes are not text. Positions count bytes from 1,
// as a person counts.
func (c Charset) decode(raw string) (text string, bad phrase.Packed) {
	if c.Table == nil {
		if at, bad := sqltext.FirstInvalidUTF8(raw); bad {
			return "", phrase.Pack("bytes not valid UTF-8 at %d", at+1)
		}
		return raw, ""
	}
	var b strings.Builder
	b.Grow(len(raw) + len(raw)/8)
	for i := range len(raw) {
		r := c.Table.DecodeByte(raw[i])
		if r == utf8.RuneError {
			return "", phrase.Pack("byte not defined in %s at %d", c.name, i+1)
		}
		b.WriteRune(r)
	}
	return b.String(), ""
}

// Encode returns the stored bytes of a text read with this charset.
func (c Charset) Encode(text string) ([]byte, bool) {
	if c.Table == nil {
		return []byte(text), true
	}
	out := make([]byte, 0, len(text))
	for _, r := range text {
		b, ok := c.Table.EncodeRune(r)
		if !ok {
			return nil, false
		}
		out = append(out, b)
	}
	return out, true
}

// IsASCII reports whether a text has the same bytes in every charset.
func IsASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}
