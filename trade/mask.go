package trade

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Documents of persons are masked in the way of public authorities, ***.456.789-**; those of
// companies are not personal data. In a text a CPF is recognised by its check digits, so that other
// numbers stay readable, unless they happen to be a valid CPF. In a column that is named after it,
// everything that is no CNPJ is taken for one: a numeric column has lost its leading zeros.

var (
	// documentForms are a CPF from its first digit on: with leading zeros, bare or with separators,
	// its check digits maybe in a column of their own; as a number with points; and without its first
	// zero, which only separators show. apartForm has a separator after each digit.
	documentForms = []*regexp.Regexp{
		regexp.MustCompile(`^0*(\d{3})([^0-9A-Za-z|"]{0,4})(\d{3})([^0-9A-Za-z|"]{0,4})(\d{3})([^0-9A-Za-z|"]{0,4}|\|)(\d{2})(?:\D|$)`),
		regexp.MustCompile(`^(\d{2})([\s.,])(\d{3})([\s.,])(\d{3})([\s.,])(\d{3})(?:\D|$)`),
		regexp.MustCompile(`^(\d{2})([\s._/-]{1,4})(\d{3})([\s._/-]{1,4})(\d{3})([\s._/-]{1,4})(\d{2})(?:\D|$)`),
	}
	apartForm   = regexp.MustCompile(`^\d(?:[^0-9A-Za-z|"]\d){10}(?:\D|$)`)
	branchForm  = regexp.MustCompile(`^(\d{13,15})(?:\D|$)`) // with a CPF in one code
	escapedRune = regexp.MustCompile(`^\\u[0-9a-fA-F]{4}`)   // of JSON
	escapedByte = regexp.MustCompile(`^%2[0-9a-fA-F]`)       // of an address
	keyToken    = regexp.MustCompile(`[^\s"'“”«»(),;:]+`)

	// opaqueForm is a UUID or a SHA-256, which are compared with others and have digits of no meaning.
	opaqueForm = regexp.MustCompile(
		`\b(?:[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}|[0-9a-f]{64})\b`)
)

// keyDocuments has the parts of keys whose columns are named after documents: of how many parts a key
// is made, and which one it is. It is the process's, since a text does not say of which job its keys are.
var keyDocuments sync.Map // of [2]int

// NameKey makes known of which columns the keys of a job are made, so that a CPF that lost its first
// zeros in a numeric column is masked in every text that has such a key.
func NameKey(columns []string) {
	for i, c := range columns {
		if namesDocument(c) {
			keyDocuments.Store([2]int{len(columns), i}, nil)
		}
	}
}

// maskKey masks in a key the parts that are documents.
func maskKey(key string) string {
	parts := strings.Split(key, "|")
	for i, part := range parts {
		_, known := keyDocuments.Load([2]int{len(parts), i})
		if number := bareDocument(part); known && len(part) >= leastDigits-2 && isCPF(number) {
			parts[i] = maskedCPF(number)
		}
	}
	return strings.Join(parts, "|")
}

// MaskDocuments masks each CPF in a text, in whatever form it was typed. Every page, file, log line and
// line on a terminal that leaves the program must be passed through it.
func MaskDocuments(text string) string {
	if !enoughDigits(text) {
		return text
	}
	if whole := maskKey(text); whole != text { // its parts may have blanks
		text = whole
	} else if strings.Contains(text, "|") {
		text = keyToken.ReplaceAllStringFunc(text, maskKey)
	}
	text = maskEscaped(text, escapedRune)
	if strings.Contains(text, "%2") { // not at once: what looks escaped may be a percentage and a CPF
		text = maskEscaped(text, escapedByte)
	}
	return text
}

func maskEscaped(text string, escaped *regexp.Regexp) string {
	plain, at := plainOf(text, escaped)
	var opaque [][]int // sought once they matter
	sought := false
	var out strings.Builder
	done := 0
	for i := 0; i < len(plain); i++ {
		if !isDigit(plain[i]) || i > 0 && isDigit(plain[i-1]) || !mayBeDocument(plain[i:]) {
			continue
		}
		if !sought {
			opaque, sought = opaqueForm.FindAllStringIndex(plain, -1), true
		}
		for len(opaque) > 0 && i >= opaque[0][1] {
			opaque = opaque[1:]
		}
		if len(opaque) > 0 && i >= opaque[0][0] {
			i = opaque[0][1] - 1
			continue
		}
		number, end := documentAt(plain[i:])
		if end == 0 {
			continue
		}
		out.WriteString(text[done:at(i)] + maskedCPF(number))
		done = at(i + end)
		i += end - 1
	}
	return out.String() + text[done:]
}

// mayBeDocument reports whether a text begins with as many digits as a CPF has, with nothing but
// separators between them. Most numbers end sooner, and the forms are slow.
func mayBeDocument(text string) bool {
	digits := 0
	for i := 0; i < len(text) && digits < leastDigits; i++ {
		switch c := text[i]; {
		case isDigit(c):
			digits++
		case 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z', c == '"':
			return false
		}
	}
	return digits == leastDigits
}

// documentAt returns the CPF at the beginning of a text, and where it ends; 0 if there is none.
func documentAt(text string) (number string, end int) {
	for _, form := range documentForms {
		m := form.FindStringSubmatchIndex(text)
		if m == nil {
			continue
		}
		group := func(n int) string { return text[m[2*n]:m[2*n+1]] }
		digits := group(1) + group(3) + group(5) + group(7)
		number := strings.Repeat("0", 11-len(digits)) + digits
		switch group(2) + group(4) + group(6) {
		case ".", ",", "..,", ",,.": // an amount with its cents
			if len(group(7)) == 2 {
				continue
			}
		}
		if isCPF(number) {
			return number, m[15]
		}
	}
	if m := apartForm.FindString(text); m != "" && strings.Count(m, m[1:2]) == leastDigits {
		if number := strings.ReplaceAll(m[:2*leastDigits+1], m[1:2], ""); isCPF(number) {
			return number, 2*leastDigits + 1
		}
	}
	if m := branchForm.FindStringSubmatch(text); m != nil && !IsCNPJ(m[1]) {
		if number := m[1][len(m[1])-11:]; isCPF(number) {
			return number, len(m[1])
		}
	}
	return "", 0
}

// maskForm is the form of a masked CPF.
var maskForm = regexp.MustCompile(`\*{3}\.\d{3}\.\d{3}-\*{2}`)

// HasMask reports whether a document was masked in a text: then it is not what the ledger has.
func HasMask(text string) bool { return maskForm.MatchString(text) }

func maskedCPF(number string) string { return "***." + number[3:6] + "." + number[6:9] + "-**" }

// MaskColumn masks the documents in a text that stands in a column, or under a label, with a name.
func MaskColumn(name, text string) string {
	masked := MaskDocuments(text)
	if masked != text || !namesDocument(name) {
		return masked
	}
	number := bareDocument(text)
	if number == "" || !isCPF(number) && IsCNPJ("000"+number) {
		return text
	}
	return maskedCPF(number)
}

// bareDocument returns the digits of a text that is nothing but a number, with the zeros that a CPF
// begins with; "" if there are more.
func bareDocument(text string) string {
	plain, _ := plainOf(text, escapedRune)
	digits := strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9':
			return r
		case strings.ContainsRune(" .,_/-", r):
			return -1
		}
		return 'x'
	}, strings.TrimSpace(plain))
	digits = strings.TrimLeft(digits, "0")
	if digits == "" || len(digits) > 11 || strings.Contains(digits, "x") {
		return ""
	}
	return strings.Repeat("0", 11-len(digits)) + digits
}

// MaskJSON masks the documents of persons in all strings of a JSON text.
func MaskJSON(text []byte) []byte {
	var out []byte
	done := 0
	for i := 0; i < len(text); i++ {
		if text[i] != '"' {
			continue
		}
		end := i + 1
		for end < len(text) && text[end] != '"' {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end+1, len(text))
		if masked, ok := maskQuoted(string(text[i:end])); ok {
			out = append(append(out, text[done:i]...), masked...)
			done = end
		}
		i = end - 1
	}
	if done == 0 {
		return text
	}
	return append(out, text[done:]...)
}

// maskQuoted masks a JSON string, quotes included. ok is false if nothing has to be masked. What is
// escaped may stand between the digits of a document.
func maskQuoted(quoted string) (masked string, ok bool) {
	if !enoughDigits(quoted) {
		return quoted, false
	}
	text := quoted
	if strings.Contains(quoted, `\`) && json.Unmarshal([]byte(quoted), &text) != nil {
		text = quoted
	}
	masked = MaskDocuments(text)
	if masked == text {
		return quoted, false
	}
	if text == quoted {
		return masked, true
	}
	escaped, err := json.Marshal(masked)
	return string(EscapeJSON(escaped)), err == nil
}

// namesDocument reports whether a column is named after the document of a person.
func namesDocument(name string) bool {
	name = strings.ToLower(name)
	for _, part := range []string{"cpf", "cnpj", "cgc"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// plainOf returns a text in which every digit, blank and hyphen of Unicode, also an escaped one
// (\u2011), is that of ASCII, and what cannot be seen is gone. at returns where a byte of it begins
// in the text.
func plainOf(text string, escaped *regexp.Regexp) (plain string, at func(int) int) {
	odd := func(r rune) bool { return r >= utf8.RuneSelf }
	if !strings.ContainsFunc(text, odd) && !strings.Contains(text, `\u`) && !strings.Contains(text, "%2") {
		return text, func(i int) int { return i }
	}
	out := make([]byte, 0, len(text))
	from := make([]int, 0, len(text)+1)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if m := escaped.FindString(text[i:min(len(text), i+6)]); m != "" {
			n, _ := strconv.ParseUint(strings.TrimLeft(m, `\u%`), 16, 16)
			r, size = rune(n), len(m)
		}
		if !unicode.Is(unicode.Cf, r) && r != utf8.RuneError { // an error was an invisible one before
			for _, n := range norm.NFKC.String(string(r)) {
				out, from = append(out, plainRune(n)), append(from, i)
			}
		}
		i += size
	}
	from = append(from, len(text))
	return string(out), func(i int) int { return from[i] }
}

func plainRune(r rune) byte {
	switch {
	case r < utf8.RuneSelf:
		return byte(r)
	case unicode.Is(unicode.Nd, r):
		// the ranges of digits hold whole tens, each from its zero on
		for _, t := range unicode.Nd.R16 {
			if rune(t.Lo) <= r && r <= rune(t.Hi) {
				return '0' + byte((r-rune(t.Lo))%10)
			}
		}
	case unicode.Is(unicode.Pd, r), r == '\u2212':
		return '-'
	case unicode.IsSpace(r), unicode.Is(unicode.Zs, r):
		return ' '
	case strings.ContainsRune("·•∙⋅‧・", r):
		return '.'
	case r == '\u2044', r == '\u2215': // slashes of fractions
		return '/'
	case !unicode.IsLetter(r) && !unicode.IsNumber(r):
		return '-'
	}
	return 'x'
}

// enoughDigits reports whether a text may contain a document at all. What is not ASCII may be a
// digit, too.
func enoughDigits(text string) bool {
	n := 0
	for i := range len(text) {
		if isDigit(text[i]) || text[i] >= 0xC2 { // the first byte of a character
			n++
		}
	}
	return n >= leastDigits
}

// leastDigits is how many digits a CPF has that lost its first zero.
const leastDigits = 10

// isCPF reports whether eleven digits have valid check digits of a CPF.
func isCPF(d string) bool {
	if len(d) != 11 || strings.Count(d, d[:1]) == 11 {
		return false
	}
	for n := 9; n <= 10; n++ {
		sum := 0
		for i := range n {
			sum += int(d[i]-'0') * (n + 1 - i)
		}
		check := sum * 10 % 11 % 10
		if int(d[n]-'0') != check {
			return false
		}
	}
	return true
}

// IsCNPJ reports whether fourteen digits, or large letters and digits, have valid check digits of a CNPJ.
func IsCNPJ(d string) bool {
	if len(d) != 14 {
		return false
	}
	for n := 12; n <= 13; n++ {
		sum := 0
		for i := range n {
			sum += int(d[i]-'0') * ((n-1-i)%8 + 2)
		}
		check := 11 - sum%11
		if check > 9 {
			check = 0
		}
		if int(d[n]-'0') != check {
			return false
		}
	}
	return true
}
