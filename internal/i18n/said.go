package i18n

import (
	"strings"
	"sync"
)

// said is the part of pt-BR.json that translates English sentences of the code: faults of the
// configuration, help of flags, and texts of libraries. Its keys are the English sentences, with %s
// for each inserted text.
const said Part = "said"

// saying is an English sentence and its translation, each split into the pieces around the inserted
// texts.
type saying struct {
	pieces, told []string
	letters      int // of the pieces; if several sentences match, the one with the most letters is used
}

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

// Translate translates an English sentence of the code, and reports whether it could. A sentence that
// the Portuguese file does not have is returned unchanged.
func Translate(lang Lang, english string) (string, bool) {
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
		return inParts(english)
	}
	var out strings.Builder
	for i, piece := range best.told {
		out.WriteString(piece)
		if i < len(put) {
			text := put[i]
			if strings.Contains(text, " ") { // a single word may be a name, such as that of a column
				text, _ = Translate(lang, text)
			}
			out.WriteString(text)
		}
	}
	return out.String(), true
}

// inParts translates what happened and its cause after a colon. A cause that
// comes from elsewhere, such as a database or the operating system, is quoted.
func inParts(english string) (string, bool) {
	what, cause, _ := strings.Cut(english, ": ")
	if cause == "" {
		return english, false
	}
	what, knownWhat := Translate(Portuguese, what)
	told, knownCause := Translate(Portuguese, cause)
	if !knownWhat && !knownCause {
		return english, false
	}
	if !knownCause && strings.Contains(told, " ") {
		told = "“" + told + "”"
	}
	return what + ": " + told, true
}

// match returns the texts that were inserted into a sentence.
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
