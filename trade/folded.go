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

// NameBlanks puts a word in place of each empty part of a key, for people: 001|00001105||1 does not
// look like a key. A key of one part, and a text that is no key, stay as they are.
func NameBlanks(key string, lang Lang) string {
	if !strings.Contains(key, "|") {
		return key
	}
	word := translate(lang, "(blank)")
	var out strings.Builder
	begins, escaped := true, false // a part begins here
	for _, r := range key {
		ends := r == '|' && !escaped
		if ends && begins {
			out.WriteString(word)
		}
		out.WriteRune(r)
		begins, escaped = ends, r == '\\' && !escaped
	}
	if begins {
		out.WriteString(word)
	}
	return out.String()
}

// RemoveBlankNames undoes NameBlanks: it returns the key, in whatever language, also if the parts
// were set apart by spaces.
func RemoveBlankNames(text string) string {
	if !strings.Contains(text, "|") {
		return text
	}
	text = strings.ReplaceAll(text, " | ", "|")
	for _, lang := range []Lang{Portuguese, English} {
		text = strings.ReplaceAll(text, translate(lang, "(blank)"), "")
	}
	return text
}
