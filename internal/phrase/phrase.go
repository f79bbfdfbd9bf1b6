package phrase

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Text is a sentence of the code. It is an error too: what it wraps (%w) is found by errors.Is and
// errors.As. A nil Text is no sentence; its text is "".
type Text struct {
	english error
	format  string
	args    []any
}

// New returns the sentence with its arguments, as [fmt.Errorf] formats them. An argument that is an
// error, or another sentence, is told in the reader's language; all others are put in as they are.
func New(format string, args ...any) *Text {
	return &Text{fmt.Errorf(format, args...), format, args}
}

// Errorf is New as an error.
func Errorf(format string, args ...any) error { return New(format, args...) }

// Join ends something, such as an open file, and adds its error to the one that a function returns; it is
// to be deferred.
func Join(err *error, end func() error) { *err = errors.Join(*err, end()) }

// Fixed returns a sentence without arguments.
func Fixed(text string) *Text { return New("%w", Packed(text)) }

// Error returns the sentence in English.
func (t *Text) Error() string {
	if t == nil {
		return ""
	}
	return t.english.Error()
}

// MarshalText returns the sentence in English, which is what JSON has.
func (t *Text) MarshalText() ([]byte, error) { return []byte(t.Error()), nil }

// Unwrap returns the same in English as an ordinary error, which wraps what the sentence does.
func (t *Text) Unwrap() error {
	if t == nil {
		return nil
	}
	return t.english
}

// verb matches a verb of fmt.
var verb = regexp.MustCompile(`%(?:\[(\d+)\])?[-+# 0]*\d*(?:\.\d+)?[a-zA-Z%]`)

// Key returns the key of a format in "said": the format with %s for each verb.
func Key(format string) string {
	return verb.ReplaceAllStringFunc(format, func(found string) string {
		if found == "%%" {
			return "%"
		}
		return "%s"
	})
}

// Key returns the sentence's key in "said".
func (t *Text) Key() string { return Key(t.format) }

// Args returns what is put into the holes of the key: a string, or an error that is told in the
// reader's language.
func (t *Text) Args() []any {
	var out []any
	next := 0
	for _, m := range verb.FindAllStringSubmatch(t.format, -1) {
		if m[0] == "%%" {
			continue
		}
		if n, err := strconv.Atoi(m[1]); err == nil {
			next = n - 1
		}
		arg := t.args[next]
		if _, told := arg.(error); !told {
			arg = fmt.Sprintf(strings.Replace(m[0], "["+m[1]+"]", "", 1), arg)
		}
		out = append(out, arg)
		next++
	}
	return out
}

// Phrase returns the sentence. An error with fields of its own embeds its Text, or has this method.
func (t *Text) Phrase() *Text { return t }

// Of returns the sentence that an error says of itself, or nil if it is none of the code's.
func Of(err error) *Text {
	if says, ok := err.(interface{ Phrase() *Text }); ok {
		return says.Phrase()
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok && len(joined.Unwrap()) == 1 {
		return Of(joined.Unwrap()[0])
	}
	return nil
}

// Packed is a sentence as one text, which can be compared and stored: its key in "said", and
// what is put into it, with a tab before each. Any other text is itself.
type Packed string

// Pack returns the sentence of a format with its arguments. None may be told in another language.
func Pack(format string, args ...any) Packed {
	out := Key(format)
	for _, arg := range New(format, args...).Args() {
		out += "\t" + strings.ReplaceAll(arg.(string), "\t", " ")
	}
	return Packed(out)
}

// Phrase returns the sentence; nil if nothing is put into it.
func (p Packed) Phrase() *Text {
	parts := strings.Split(string(p), "\t")
	args := make([]any, len(parts)-1)
	for i := range args {
		args[i] = parts[i+1]
	}
	if len(args) == 0 || len(args) != strings.Count(parts[0], "%s") {
		return nil
	}
	return New(parts[0], args...)
}

// Error returns the sentence in English.
func (p Packed) Error() string { return cmp.Or(p.Phrase().Error(), string(p)) }
