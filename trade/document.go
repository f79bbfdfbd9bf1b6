package trade

import (
	"regexp"
	"strings"
)

// Documents of persons are masked as public bodies do, ***.456.789-**; those of companies are not
// personal. What is masked is told by its check digits, so that other numbers stay readable, unless
// they happen to be a CPF.

var (
	// documentForm is a CPF from its first digit on: with zeros in front, bare, or with separators.
	// A comma is none: it stands in money.
	documentForm = regexp.MustCompile(`^(0*)(\d{3})([\s._/\x{a0}\x{2013}-]{0,3})(\d{3})([\s._/\x{a0}\x{2013}-]{0,3})(\d{3})([\s._/\x{a0}\x{2013}-]{0,3})(\d{2})(?:\D|$)`)
	uuidForm     = regexp.MustCompile(`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`)
)

// MaskDocuments masks each CPF in a text, in whatever form it was typed: every page and every file
// that leaves the program calls it.
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

// enoughDigits tells whether a text can have a document at all.
func enoughDigits(text string) bool {
	n := 0
	for i := range len(text) {
		if isDigit(text[i]) {
			n++
		}
	}
	return n >= 11
}

// IsCPF tells whether eleven digits have the check digits of a CPF.
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
