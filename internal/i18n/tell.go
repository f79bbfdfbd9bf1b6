package i18n

import (
	"io/fs"
	"regexp"
	"strings"
	"unicode"

	"github.com/safrasync/safrasync/internal/phrase"
)

// SentenceForm returns the form of a sentence of package phrase by its key, with %s for each argument. What has
// no word is the same in every language. It reports false if the Portuguese file lacks a sentence.
func SentenceForm(lang Lang, key string) (form string, known bool) {
	if lang == English {
		return key, true
	}
	if told, ok := catalogue().Said[key]; ok {
		return told, true
	}
	return key, !strings.ContainsFunc(verb.ReplaceAllString(key, ""), unicode.IsLetter)
}

// verb finds the verbs of a form.
var verb = regexp.MustCompile(`%(\[\d+\])?[-+# 0-9.]*[a-zA-Z%]`)

// Cause returns an error in a language, for a sentence of which it is the cause. What comes from
// elsewhere is quoted.
func Cause(lang Lang, err error) string {
	text, known := errorText(lang, err)
	if !known && strings.Contains(text, " ") {
		return "“" + text + "”"
	}
	return text
}

// ErrorText returns an error in a language. What comes from elsewhere, such as a database or the operating
// system, is returned as it is; as the cause in a sentence it is quoted.
func ErrorText(lang Lang, err error) string {
	text, _ := errorText(lang, err)
	return text
}

func errorText(lang Lang, err error) (text string, known bool) {
	if lang == English {
		return err.Error(), true
	}
	t := phrase.Of(err)
	if t == nil { // several that are joined, one that only wraps another, one about a file, or a fixed text
		if file, is := err.(*fs.PathError); is { //nolint:errorlint // what is around it is what counts
			if form, known := SentenceForm(lang, file.Op+" %s: "+file.Err.Error()); known {
				return strings.Replace(form, "%s", file.Path, 1), true
			}
		}
		var of []error
		switch outer := err.(type) { //nolint:errorlint // what is around it is what counts
		case interface{ Unwrap() error }:
			of = []error{outer.Unwrap()}
		case interface{ Unwrap() []error }:
			of = outer.Unwrap()
		}
		var english, told []string
		known := len(of) > 0
		for _, one := range of {
			if one == nil {
				break
			}
			text, is := errorText(lang, one)
			english, told, known = append(english, one.Error()), append(told, text), known && is
		}
		if strings.Join(english, "\n") == err.Error() {
			return strings.Join(told, "\n"), known
		}
		return SentenceForm(lang, err.Error())
	}
	form, known := SentenceForm(lang, t.Key())
	var out strings.Builder
	args := t.Args()
	for i, piece := range strings.Split(form, "%s") {
		out.WriteString(piece)
		if i == len(args) {
			break
		}
		put, _ := args[i].(string)
		if cause, is := args[i].(error); is {
			put = Cause(lang, cause)
		}
		out.WriteString(put)
	}
	return out.String(), known
}
