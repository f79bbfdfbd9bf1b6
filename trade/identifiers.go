package trade

import (
	"cmp"
	"errors"
	"regexp"
	"strings"

	"github.com/google/uuid"
)

// ParseID normalizes a UUID as ERPs store them: it removes blanks around it and braces, and
// converts it to lower case. It refuses everything else, also forms that other parsers accept (no
// hyphens, urn:uuid:), because a wrong id is worse than a row that waits; and the nil UUID, which
// identifies nothing.
func ParseID(text string) (string, error) {
	t := strings.TrimSpace(text)
	if strings.HasPrefix(t, "{") && strings.HasSuffix(t, "}") {
		t = t[1 : len(t)-1]
	}
	if len(t) != 36 {
		return "", errors.New("is not a UUID")
	}
	id, err := uuid.Parse(t)
	if err != nil {
		return "", errors.New("is not a UUID")
	}
	if id == uuid.Nil {
		return "", errors.New("is the UUID of nothing")
	}
	return id.String(), nil
}

// CompareCodes compares codes and keys of the ERP in the order that people expect: runs of digits
// by their value, so that 2 comes before 10, everything else by its bytes. If codes differ only in
// leading zeros, the shorter comes first; the result is 0 only for equal texts.
func CompareCodes(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		m, n := digitsAt(x), digitsAt(y)
		if m > 0 && n > 0 {
			left, right := strings.TrimLeft(x[:m], "0"), strings.TrimLeft(y[:n], "0")
			if c := cmp.Or(len(left)-len(right), strings.Compare(left, right)); c != 0 {
				return c
			}
			x, y = x[m:], y[n:]
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(len(x)-len(y), len(a)-len(b), strings.Compare(a, b))
}

// digitsAt counts the digits at the beginning of a text.
func digitsAt(text string) int {
	n := 0
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	return n
}

// Documents of persons are masked in the way of public authorities, ***.456.789-**; those of
// companies are not personal data. A CPF is recognised by its check digits, so that other numbers
// stay readable, unless they happen to be a valid CPF.

var (
	// documentForm is a CPF from its first digit on: with leading zeros, bare, or with separators.
	// A comma is not a separator, because it occurs in money.
	documentForm = regexp.MustCompile(
		`^(0*)(\d{3})([\s._/\x{a0}\x{2013}-]{0,3})(\d{3})([\s._/\x{a0}\x{2013}-]{0,3})(\d{3})([\s._/\x{a0}\x{2013}-]{0,3})(\d{2})(?:\D|$)`)
	uuidForm = regexp.MustCompile(`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`)
)

// MaskDocuments masks each CPF in a text, in whatever form it was typed. Every page and file that
// leaves the program must be passed through it.
func MaskDocuments(text string) string {
	if !enoughDigits(text) {
		return text
	}
	uuids := uuidForm.FindAllStringIndex(text, -1)
	var out strings.Builder
	done := 0
	for i := 0; i < len(text); i++ {
		for len(uuids) > 0 && i >= uuids[0][1] {
			uuids = uuids[1:]
		}
		switch {
		case len(uuids) > 0 && i >= uuids[0][0]:
			i = uuids[0][1] - 1
			continue
		case !isDigit(text[i]), i > 0 && isDigit(text[i-1]):
			continue
		}
		m := documentForm.FindStringSubmatchIndex(text[i:])
		if m == nil {
			continue
		}
		group := func(n int) string { return text[i+m[2*n] : i+m[2*n+1]] }
		decimal := group(3) == "" && group(5) == "" && group(7) == "."
		if number := group(2) + group(4) + group(6) + group(8); decimal || !IsCPF(number) {
			continue
		}
		out.WriteString(text[done:i] + "***." + group(4) + "." + group(6) + "-**")
		done = i + m[17]
		i = done - 1
	}
	return out.String() + text[done:]
}

// enoughDigits reports whether a text may contain a document at all.
func enoughDigits(text string) bool {
	n := 0
	for i := range len(text) {
		if isDigit(text[i]) {
			n++
		}
	}
	return n >= 11
}

// IsCPF reports whether eleven digits have valid check digits of a CPF.
func IsCPF(d string) bool {
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

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// Forms of a CAR number, the registration of a rural property: the complete one of the federal
// register, and the looser one that chapter 2.2 shows.
var (
	carForm  = regexp.MustCompile(`^([A-Z]{2})-(\d{7})-([0-9A-F]{32})$`)
	carShape = regexp.MustCompile(`^[A-Z]{2}-[0-9A-Z]+-[0-9A-Z]+$`)
)

// states are the federative units with their IBGE numbers, with which the number of a municipality
// begins.
var states = map[string]string{
	"RO": "11", "AC": "12", "AM": "13", "RR": "14", "PA": "15", "AP": "16", "TO": "17", "MA": "21", "PI": "22",
	"CE": "23", "RN": "24", "PB": "25", "PE": "26",
	"AL": "27", "SE": "28", "BA": "29", "MG": "31", "ES": "32", "RJ": "33", "SP": "35", "PR": "41", "SC": "42",
	"RS": "43", "MS": "50", "MT": "51", "GO": "52", "DF": "53",
}

// canonicalCAR returns a CAR as it is sent: in upper case, without blanks and without the dots that
// receipts print between groups.
func canonicalCAR(text string) string {
	return carPrinted.Replace(strings.ToUpper(text))
}

var carPrinted = strings.NewReplacer(".", "", " ", "")

// ParseCAR parses a CAR number in any of the printed forms and returns its canonical form
// UF-NNNNNNN-<32 hex digits>: the state, its municipality by its IBGE number, and the register's
// code. The error does not contain the text.
func ParseCAR(text string) (string, error) {
	car := canonicalCAR(text)
	m := carForm.FindStringSubmatch(car)
	switch {
	case m == nil:
		return "", errors.New("is not in the form UF-NNNNNNN-<32 hex digits>")
	case states[m[1]] == "":
		return "", errors.New("begins with no federative unit of Brazil")
	}
	return car, nil
}

// carAtHome reports whether the municipality of a canonical CAR is in its federative unit.
// Registers have had this wrong, so it is only a remark.
func carAtHome(car string) bool {
	return strings.HasPrefix(car[len("UF-"):], states[car[:len("UF")]])
}
