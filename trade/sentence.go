package trade

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/phrase"
)

// Sentence is what the program says of something that it met: a code, and what is put into the
// sentence. It is stored and handed on in this form. The sentence is made where it is read, in the
// reader's language, from part "sentences" of package i18n. The zero value says nothing.
type Sentence struct {
	Code string `json:"code"`
	Args Args   `json:"args,omitempty"`
}

// Args are what is put into a sentence, by name. A value is a text (a moment as in RFC 3339), a
// number ([json.Number]), another sentence, or a list of them ([]any).
type Args map[string]any

// Say returns the sentence of a code; names and values of what is put into it alternate. The holes of
// a sentence:
//
//	{job}              a text or a number
//	{until:moment}     a time
//	{kilograms:tonnes} a weight
//	{now:state}        the state of a row
//	{cause:said}       a fixed English text, or one that comes from elsewhere
//	{row|rows}         the words for one and for several of the number before them
func Say(code string, pairs ...any) Sentence {
	s := Sentence{Code: code}
	if len(pairs) > 0 {
		s.Args = make(Args, len(pairs)/2)
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		s.Args[pairs[i].(string)] = argument(pairs[i+1])
	}
	return s
}

// ofPhrase is the code of a sentence of package phrase. Argument form is its key there, and those that
// are put into it are named by their numbers.
const ofPhrase = "phrase"

// Because returns the sentence of an error: its own, those of errors that were joined, or that of package
// phrase. Any other is told by its text.
func Because(err error) Sentence {
	if says, ok := err.(interface{ Sentence() Sentence }); ok {
		return says.Sentence()
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return Say("cause.all", "causes", joined.Unwrap())
	}
	t := phrase.Of(err)
	if t == nil {
		return Say("cause.said", "text", err.Error())
	}
	s := Sentence{Code: ofPhrase}.With("form", t.Key())
	for i, arg := range t.Args() {
		s = s.With(strconv.Itoa(i), arg)
	}
	return s
}

// With returns the sentence with another value.
func (s Sentence) With(name string, value any) Sentence {
	args := Args{}
	maps.Copy(args, s.Args)
	args[name] = argument(value)
	return Sentence{s.Code, args}
}

func argument(value any) any {
	switch v := value.(type) {
	case Sentence:
		return v
	case int:
		return json.Number(strconv.Itoa(v))
	case Decimal:
		return json.Number(v.String())
	case time.Time:
		return v.UTC().Format(time.RFC3339)
	case error:
		return Because(v)
	case []string:
		return list(v)
	case []Sentence:
		return list(v)
	case []error:
		return list(v)
	}
	return fmt.Sprint(value)
}

func list[T any](of []T) []any {
	out := make([]any, len(of))
	for i, v := range of {
		out[i] = argument(v)
	}
	return out
}

// UnmarshalJSON implements [json.Unmarshaler].
func (a *Args) UnmarshalJSON(data []byte) error {
	var read map[string]any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	err := d.Decode(&read)
	*a = argsOf(read)
	return err
}

func argsOf(read map[string]any) Args {
	if len(read) == 0 {
		return nil
	}
	out := make(Args, len(read))
	for name, value := range read {
		out[name] = valueOf(value)
	}
	return out
}

func valueOf(read any) any {
	switch v := read.(type) {
	case map[string]any:
		code, _ := v["code"].(string)
		args, _ := v["args"].(map[string]any)
		return Sentence{code, argsOf(args)}
	case []any:
		for i := range v {
			v[i] = valueOf(v[i])
		}
	}
	return read
}

// String returns the sentence in English, as JSON and logs have it. Of a code that this version does
// not know, or that lacks an argument, it returns code and arguments.
func (s Sentence) String() string { return s.In(English, time.UTC) }

// In returns the sentence in a language, with times in a zone.
func (s Sentence) In(lang Lang, zone *time.Location) string {
	text, _ := s.translate(lang, zone)
	return i18n.OneStop(text)
}

// Known reports whether the sentence can be told in a language. One that only passes on what came from
// elsewhere may be known in English only. One of another version may be unknown in each; it is told as
// a sentence about that.
func (s Sentence) Known(lang Lang) bool {
	_, known := s.translate(lang, time.UTC)
	return known
}

// hole is a hole of a sentence, or a choice of words.
var hole = regexp.MustCompile(`\{[a-z_0-9]+(?::[a-z]+)?\}|\{[^{}|]*\|[^{}|]*\}`)

func (s Sentence) translate(lang Lang, zone *time.Location) (text string, known bool) {
	if s.Code == "" {
		return "", true
	}
	known = true
	form := i18n.Sentences.Find(lang, s.Code)
	if key, is := s.Args["form"].(string); is && s.Code == ofPhrase {
		form, known = i18n.SentenceForm(lang, key)
		for i := range len(s.Args) - 1 {
			form = strings.Replace(form, "%s", "{"+strconv.Itoa(i)+"}", 1)
		}
	}
	strange := form == ""
	count := json.Number("")
	text = hole.ReplaceAllStringFunc(form, func(found string) string {
		inner := found[1 : len(found)-1]
		if one, many, choice := strings.Cut(inner, "|"); choice {
			if count == "1" {
				return one
			}
			return many
		}
		name, as, _ := strings.Cut(inner, ":")
		value, given := s.Args[name]
		strange = strange || !given
		if n, ok := value.(json.Number); ok {
			count = n
		}
		put, ok := translateValue(value, as, lang, zone)
		known = known && (ok || found != form)
		return put
	})
	switch {
	case !strange:
		return text, known
	case lang == English && zone == time.UTC && len(s.Args) == 0:
		return s.Code, false
	case lang == English && zone == time.UTC:
		args, _ := json.Marshal(s.Args) //nolint:errchkjson // it was read from JSON, or made of texts
		return s.Code + " " + string(args), false
	}
	return translate(lang, "a reason that this version of safrasync does not know"), false
}

// translateValue returns a value as text, and reports whether it is in the language.
func translateValue(value any, as string, lang Lang, zone *time.Location) (string, bool) {
	switch v := value.(type) {
	case json.Number:
		if kg, err := ParseDecimal(string(v)); as == "tonnes" && err == nil {
			return TonnesText(kg, lang), true
		}
		return strings.Replace(NumberText(string(v), lang), "−", "-", 1), true
	case Sentence:
		return v.translate(lang, zone)
	case []any:
		texts, known := make([]string, len(v)), true
		for i, one := range v {
			text, ok := translateValue(one, as, lang, zone)
			texts[i], known = text, known && ok
		}
		return strings.Join(texts, ", "), known
	case string:
		switch as {
		case "said":
			return i18n.SentenceForm(lang, v)
		case "state":
			return cmp.Or(State(v).Label(lang), v), true
		case "moment":
			if at, err := time.Parse(time.RFC3339, v); err == nil && (lang != English || zone != time.UTC) {
				return MomentText(at, lang, zone), true
			}
		}
		return v, true
	}
	return "", true
}

// MomentText formats a time for people.
func MomentText(t time.Time, lang Lang, zone *time.Location) string {
	if lang == English {
		return t.In(zone).Format("2006-01-02 15:04")
	}
	return t.In(zone).Format("02/01/2006 15:04")
}

// TonnesText formats a weight in kilograms as tonnes, to the kilogram; a rounded value is marked with ≈.
func TonnesText(kg Decimal, lang Lang) string {
	whole := kg.Round(0)
	text := NumberText(whole.Tonnes().String(), lang) + " t"
	if whole.Cmp(kg) != 0 {
		return "≈ " + text
	}
	return text
}
