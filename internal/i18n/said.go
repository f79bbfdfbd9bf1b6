package i18n

import (
	"regexp"
	"strings"
	"sync"
)

// said is the part of pt-BR.json by which sentences that the code says in English are told in
// Portuguese: faults of the configuration, flags' help, and words of libraries. Its keys are the
// English sentences, with %s for what was put in.
const said Part = "said"

// saying is an English sentence, in the pieces around what was put in, and how it is told.
type saying struct {
	pieces, told []string
	letters      int // of the pieces: of two that match, the one with more is meant
}

// list is what may be given, which is put into other sentences.
var list = regexp.MustCompile(`^([^ ]+(?:, [^ ]+)*) or ([^ ]+)$`)

var sayings = sync.OnceValue(func() []saying {
	var out []saying
	for english, told := range said.All(Portuguese) {
		s := saying{pieces: strings.Split(string(english), "%s"), told: strings.Split(told, "%s")}
		for _, piece := range s.pieces {
			s.letters += len(piece)
		}
		out = append(out, s)
	}
	return out
})

// Said tells in a language what the code says in English, and whether it can: a sentence that the
// Portuguese file does not have is given as it is.
func Said(lang Lang, english string) (string, bool) {
	if lang == English {
		return english, true
	}
	var best saying
	var put []string
	for _, s := range sayings() {
		if s.letters > best.letters {
			if in, ok := s.match(english); ok {
				best, put = s, in
			}
		}
	}
	if best.letters == 0 {
		if names := list.FindStringSubmatch(english); names != nil {
			return names[1] + " ou " + names[2], true
		}
		return english, false
	}
	var out strings.Builder
	for i, piece := range best.told {
		out.WriteString(piece)
		if i < len(put) {
			text := put[i]
			if strings.Contains(text, " ") { // a word alone may be anybody's: the name of a column
				text, _ = Said(lang, text)
			}
			out.WriteString(text)
		}
	}
	return out.String(), true
}

// match returns what was put into a sentence.
func (s saying) match(text string) (put []string, ok bool) {
	rest, ok := strings.CutPrefix(text, s.pieces[0])
	for i, piece := range s.pieces[1:] {
		if !ok {
			return nil, false
		}
		var in string
		if i == len(s.pieces)-2 { // the last piece is the end
			in, ok = strings.CutSuffix(rest, piece)
			rest = ""
		} else {
			in, rest, ok = strings.Cut(rest, piece)
		}
		put = append(put, in)
	}
	return put, ok && rest == ""
}
