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
