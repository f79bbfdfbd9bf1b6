package api

import (
	"regexp"
	"strings"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/i18n"
)

// named matches a document with its kind before it, as lists often have it: "CPF 529.982.247-25",
// "CNPJ: 11…".
var named = regexp.MustCompile(`(?is)^\s*(CPF|CNPJ)(?:\s*n[º°])?[\s\x{a0}:.-]*(.*)$`)

// zeroLost is the fault of a document that is one digit too short.
const zeroLost i18n.Key = "%s is one digit too short; a spreadsheet may have dropped a leading zero (format the column as text)"

// readDocument reads a CPF or CNPJ, with or without its kind before it. If it cannot be read, wrong
// is the key of a text that takes the name of the flag or column.
//
// "CPF" and 11 digits have the length of a CNPJ, and since July 2026 a CNPJ may have letters. Text
// that begins with "CPF" means a CPF: it is read as one or refused, never taken for a company. A
// CNPJ that really begins so is recognised by its own punctuation, 12.ABC.345/01DE-35.
func readDocument(text string) (number string, wrong i18n.Key) {
	if m := named.FindStringSubmatch(text); m != nil {
		name, rest := strings.ToUpper(m[1]), m[2]
		digits := strings.Trim(bareDocument(rest), "0123456789") == ""
		switch {
		case name == "CPF" && digits && len(bareDocument(rest)) == 11:
			if number, err := apiclient.ParseCPF(rest); err == nil {
				return number, ""
			}
			return "", "%s begins with CPF, but what follows is not a valid CPF; give only the number"
		case name == "CNPJ" && len(bareDocument(rest)) == 14:
			text = rest
		}
	}
	number, _, err := apiclient.ParseDocument(text)
	switch n := len(bareDocument(text)); {
	case err == nil:
		return number, ""
	case n == 10 || n == 13:
		return "", zeroLost
	}
	return "", "%s is not a valid CPF or CNPJ; check its digits"
}

// bareDocument returns a document without its punctuation.
func bareDocument(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9', r >= 'A' && r <= 'Z', r >= 'a' && r <= 'z':
			return r
		}
		return -1
	}, text)
}
