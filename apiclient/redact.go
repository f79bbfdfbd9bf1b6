package apiclient

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// minRedactedKey is the shortest key looked for in foreign text; a shorter one would tear holes into ordinary words.
const minRedactedKey = 6

// redactor removes the key from bytes that came from elsewhere: a server may echo what it was sent.
type redactor struct {
	// forms lists the spellings of the key that can turn up. A function, because fmt would print a field.
	forms func() []string
}

func newRedactor(key string) redactor {
	if len(key) < minRedactedKey {
		return redactor{forms: func() []string { return nil }}
	}
	quoted, _ := json.Marshal(key) // unreachable: a string always marshals
	asJSON := string(quoted[1 : len(quoted)-1])
	forms := []string{key}
	for _, f := range []string{
		asJSON, strings.ReplaceAll(asJSON, "/", `\/`), url.QueryEscape(key), url.PathEscape(key),
		base64.StdEncoding.EncodeToString([]byte(key)),
	} {
		if f != key {
			forms = append(forms, f)
		}
	}
	return redactor{forms: func() []string { return forms }}
}

func (r redactor) bytes(b []byte) []byte {
	for _, f := range r.forms() {
		if bytes.Contains(b, []byte(f)) {
			b = bytes.ReplaceAll(b, []byte(f), []byte(hidden))
		}
	}
	return b
}

func (r redactor) text(s string) string {
	for _, f := range r.forms() {
		s = strings.ReplaceAll(s, f, hidden)
	}
	return s
}

// secretHeaders are hidden whole, in both directions.
var secretHeaders = map[string]bool{
	"Authorization": true, "Proxy-Authorization": true, "Cookie": true, "Set-Cookie": true,
	"X-Api-Key": true, "Apikey": true, "X-Auth-Token": true,
}

// header returns a redacted copy.
func (r redactor) header(h http.Header) http.Header {
	if h == nil {
		return nil
	}
	out := make(http.Header, len(h))
	for name, values := range h {
		kept := make([]string, len(values))
		for i, v := range values {
			if secretHeaders[http.CanonicalHeaderKey(name)] {
				kept[i] = hidden
			} else {
				kept[i] = r.text(v)
			}
		}
		out[r.text(name)] = kept
	}
	return out
}

var (
	// quotedPart matches what Go's transport quotes: bytes of the answer it could not read.
	quotedPart = regexp.MustCompile(`"(?:[^"\\]|\\.)*"?`)
	// urlQuery matches the query of a URL; it may hold a document number.
	urlQuery = regexp.MustCompile(`\?[^\s"']*`)
	// document matches CPF and CNPJ, also the alphanumeric one, with and without punctuation.
	document = regexp.MustCompile(`\b(?:\d{3}\.?\d{3}\.?\d{3}-?\d{2}|[0-9A-Z]{2}\.[0-9A-Z]{3}\.[0-9A-Z]{3}/[0-9A-Z]{4}-\d{2}|\d{14})\b`)
)

// errorText makes the text of a transport error fit for a log.
func (r redactor) errorText(err error) string {
	s := r.text(err.Error())
	s = quotedPart.ReplaceAllString(s, `"…"`)
	s = urlQuery.ReplaceAllString(s, "?…")
	return sanitise([]byte(s), 300)
}

// sanitise returns at most limit bytes of b as one line of valid UTF-8 without control, format and private characters,
// documents masked.
func sanitise(b []byte, limit int) string {
	cut := false
	if len(b) > 2*limit {
		b, cut = b[:2*limit], true
	}
	var out strings.Builder
	for _, r := range strings.ToValidUTF8(string(b), "\uFFFD") {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			r = ' '
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp):
			r = '\uFFFD'
		}
		out.WriteRune(r)
	}
	s := document.ReplaceAllString(out.String(), "[document]")
	if len(s) > limit {
		cut = true
	}
	if cut {
		s = truncate(s, limit-len("…")) + "…"
	}
	return s
}

// truncate cuts s to at most limit bytes without splitting a character.
func truncate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
