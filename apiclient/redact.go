package apiclient

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// minRedactedKey is the length of the shortest key that is searched for in foreign text; a shorter
// one would match inside ordinary words.
const minRedactedKey = 6

// hiddenDocument replaces a document number.
const hiddenDocument = "[document]"

// redactor replaces secrets and document numbers in bytes from elsewhere, because a server may echo
// what it was sent.
type redactor struct {
	// forms returns the spellings to replace. It is a function, because fmt would print a field.
	forms func() []spelling
}

// spelling is one spelling of a hidden value, and the text shown instead.
type spelling struct{ text, shown string }

// with returns a redactor that also replaces values by shown.
func (r redactor) with(shown string, values ...string) redactor {
	if len(values) == 0 {
		return r
	}
	forms := slices.Clone(r.forms())
	for _, v := range values {
		for _, s := range spellings(v) {
			forms = append(forms, spelling{s, shown})
		}
	}
	return redactor{forms: func() []spelling { return forms }}
}

// spellings returns the spellings in which an echo may contain key: JSON, URL, HTML and base64.
func spellings(key string) []string {
	if len(key) < minRedactedKey {
		return nil
	}
	quoted, _ := json.Marshal(key)
	plain, _ := encode(key)
	asJSON, forHTML := string(plain[1:len(plain)-1]), string(quoted[1:len(quoted)-1])
	query, path := url.QueryEscape(key), url.PathEscape(key)
	var forms []string
	for _, f := range []string{
		key, asJSON, forHTML, strings.ReplaceAll(asJSON, "/", `\/`), strings.ReplaceAll(forHTML, "/", `\/`),
		query, smallEscapes(query), path, smallEscapes(path), html.EscapeString(key),
		// The padded form begins with the unpadded one.
		base64.RawStdEncoding.EncodeToString([]byte(key)), base64.RawURLEncoding.EncodeToString([]byte(key)),
	} {
		if !slices.Contains(forms, f) {
			forms = append(forms, f)
		}
	}
	return forms
}

var percentEscape = regexp.MustCompile(`%[0-9A-F]{2}`)

// smallEscapes converts percent escapes to lower case: %2F becomes %2f.
func smallEscapes(s string) string { return percentEscape.ReplaceAllStringFunc(s, strings.ToLower) }

// credentialField matches the two secret fields of a webhook (chapter 2.7) at any depth, even if
// the text is cut off.
var credentialField = regexp.MustCompile(`(?i)("(?:basic_?authentication|hmac_?secret)"\s*:\s*)"(?:[^"\\]|\\.)*"?`)

// hideCredentials hides the secrets of webhooks by field name, because short secrets are not
// searched for by their text, and those of other webhooks are unknown.
func hideCredentials(body []byte) []byte {
	return credentialField.ReplaceAll(body, []byte(`${1}"`+hidden+`"`))
}

func (r redactor) text(s string) string {
	for _, f := range r.forms() {
		s = strings.ReplaceAll(s, f.text, f.shown)
	}
	return s
}

// secretHeaders are hidden completely, in both directions.
var secretHeaders = map[string]bool{
	"Authorization": true, "Proxy-Authorization": true, "Cookie": true, "Set-Cookie": true,
	"X-Api-Key": true, "Apikey": true, "X-Auth-Token": true,
}

func (r redactor) header(h http.Header) http.Header {
	if h == nil {
		return nil
	}
	out := make(http.Header, len(h))
	for name, values := range h {
		for _, v := range values {
			v = r.text(v)
			if secretHeaders[http.CanonicalHeaderKey(name)] {
				v = hidden
			}
			shown := r.text(name)
			out[shown] = append(out[shown], v)
		}
	}
	return out
}

var (
	// quotedPart matches a quoted part of an error of Go's transport, which holds bytes of the
	// answer.
	quotedPart = regexp.MustCompile(`"(?:[^"\\]|\\.)*"?`)
	// urlQuery matches the query of a URL; it may hold a document number.
	urlQuery = regexp.MustCompile(`\?[^\s"']*`)
	// document matches a CPF or CNPJ, including the alphanumeric one, with and without punctuation.
	document = regexp.MustCompile(
		`(?i)\b(?:\d{3}\.?\d{3}\.?\d{3}-?\d{2}|[0-9A-Z]{2}\.?[0-9A-Z]{3}\.?[0-9A-Z]{3}(?:/|%2F)?[0-9A-Z]{4}-?\d{2})\b`)
)

// errorText makes the text of a transport error fit for a log.
func (r redactor) errorText(err error) string {
	s := r.text(err.Error())
	s = quotedPart.ReplaceAllString(s, `"…"`)
	s = urlQuery.ReplaceAllString(s, "?…")
	return sanitise([]byte(s), 300)
}

// sanitise returns at most limit bytes of b as one line of valid UTF-8 without control, format and
// private-use characters, and with documents masked.
func sanitise(b []byte, limit int) string {
	cut := false
	if len(b) > 2*limit {
		b, cut = b[:2*limit], true
	}
	s := document.ReplaceAllString(strings.Map(func(r rune) rune {
		switch {
		case ' ' <= r && r <= '~':
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp):
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(string(b), "\uFFFD")), hiddenDocument)
	if cut || len(s) > limit {
		end := min(len(s), limit-len("…"))
		for end > 0 && end < len(s) && !utf8.RuneStart(s[end]) { // within a character
			end--
		}
		s = s[:end] + "…"
	}
	return s
}

// hidden replaces a secret.
const hidden = "[secret]"

// Secret is a text that is never printed: fmt, encoding/json, encoding.TextMarshaler and log/slog
// all see "[secret]". Convert it with string(s) to use it, and only where it is sent to its
// destination.
//
// One way around remains: fmt cannot call methods on unexported struct fields and prints the plain
// string there. Keep a Secret in exported fields or behind a function, as [Client] does.
type Secret string

// String returns "[secret]".
func (Secret) String() string { return hidden }

// GoString returns "[secret]", for %#v.
func (Secret) GoString() string { return hidden }

// Format writes "[secret]" for every verb, %x and %q included.
func (Secret) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, hidden) }

// MarshalJSON returns "[secret]" as a JSON string.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + hidden + `"`), nil }

// MarshalText returns "[secret]".
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// LogValue returns "[secret]" for log/slog.
func (Secret) LogValue() slog.Value { return slog.StringValue(hidden) }
