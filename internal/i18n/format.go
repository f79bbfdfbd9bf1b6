package i18n

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	// marked matches a verb of fmt, or a choice of words in braces, such as {linha|linhas}.
	marked = regexp.MustCompile(`%(?:\[(\d+)\])?[-+# 0]*\d*(?:\.\d+)?[a-zA-Z%]|\{[^{}|]*\|[^{}|]*\}`)
	number = regexp.MustCompile(`^\d[\d.,]*( |$)`)
)

// Format returns the sentence with its arguments, as [fmt.Sprintf] does. Of words in braces, as in
// "%d {linha|linhas}", it writes the left ones if the number is 1, and otherwise the right ones.
// The number is the last one before the words, or the first in the sentence if there is none
// before. An argument that is a text counts if it begins with a number, such as "1 contrato".
func Format(sentence string, args ...any) string {
	if !strings.ContainsRune(sentence, '|') {
		return OneStop(fmt.Sprintf(sentence, args...))
	}
	var words []string // the choices, each with the number that decides it
	var counts []string
	first, counted, next := "", "", 0
	for _, m := range marked.FindAllStringSubmatch(sentence, -1) {
		if m[0][0] == '{' {
			words, counts = append(words, m[0]), append(counts, counted)
			continue
		}
		if m[0] == "%%" {
			continue
		}
		if n, err := strconv.Atoi(m[1]); err == nil {
			next = n - 1
		}
		if next < len(args) {
			if text := number.FindString(fmt.Sprint(args[next])); text != "" {
				first, counted = cmp.Or(first, text), text
			}
		}
		next++
	}
	for i, choice := range words {
		one, many, _ := strings.Cut(strings.Trim(choice, "{}"), "|")
		if strings.TrimSpace(cmp.Or(counts[i], first)) != "1" {
			one = many
		}
		sentence = strings.Replace(sentence, choice, one, 1)
	}
	return OneStop(fmt.Sprintf(sentence, args...))
}

// twoStops matches the end of a question to which a sentence around it adds its own.
var twoStops = regexp.MustCompile(`\?\.(\s|$)`)

// OneStop returns a text whose questions end with one stop.
func OneStop(text string) string {
	if !strings.Contains(text, "?.") {
		return text
	}
	return twoStops.ReplaceAllString(text, "?$1")
}
