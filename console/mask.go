package console

import (
	"regexp"
	"strings"
)

// Documents of persons are masked as public bodies do, ***.456.789-**; those of companies are not personal. What is masked is told by its check digits, so that a contract number of
// eleven digits stays readable, unless it happens to be a CPF.

var documentForm = regexp.MustCompile(`\b\d{3}\.?\d{3}\.?\d{3}-?\d{2}\b`)

// maskText masks each CPF in a text.
func maskText(text string) string {
	return documentForm.ReplaceAllStringFunc(text, func(found string) string {
		if d := digits(found); isCPF(d) {
			return "***." + d[3:6] + "." + d[6:9] + "-**"
		}
		return found
	})
}

// maskKey masks the parts of a key that are documents.
func maskKey(key string) string {
	parts := strings.Split(key, "|")
	for i, part := range parts {
		parts[i] = maskText(part)
	}
	return strings.Join(parts, " | ")
}

// masked tells whether a text has something to mask.
func masked(text string) bool { return maskText(text) != text }

func digits(text string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
}

// isCPF tells whether eleven digits have the check digits of a CPF.
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
