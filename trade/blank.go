package trade

import "strings"

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
