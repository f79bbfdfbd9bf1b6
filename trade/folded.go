package trade

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// wordLong limits the characters of one word.
const wordLong = 40

// Folded returns a text in lower case, without accents and separators, a number without leading zeros.
func Folded(text string) string {
	var b strings.Builder
	for _, r := range norm.NFD.String(strings.ToLower(text)) {
		if !BetweenWords(r) {
			b.WriteRune(r)
		}
	}
	word := b.String()
	if strings.Trim(word, "0123456789") == "" {
		word = strings.TrimLeft(word, "0")
	}
	return word
}

// Joined returns a text as one folded word.
func Joined(text string) string {
	word := Folded(text)
	if utf8.RuneCountInString(word) > wordLong {
		word = string([]rune(word)[:wordLong])
	}
	return word
}

// Parts returns the words of a text, which signs separate, too, each folded.
func Parts(token string) []string {
	parts := strings.FieldsFunc(token, BetweenWords)
	for i, part := range parts {
		parts[i] = Joined(part)
	}
	return parts
}

// BetweenWords reports whether a character is part of no word.
func BetweenWords(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
