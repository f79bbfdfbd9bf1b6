package i18n

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// Lang is a language of people. JSON, logs and identifiers are always in English.
type Lang string

// The languages. Portuguese comes first in everything that accountants see.
const (
	Portuguese Lang = "pt-BR"
	English    Lang = "en"
)

// Key is a sentence in English, or the code of one within its part.
type Key = string

// Part is a part of the program whose sentences have codes: a member of the catalogue.
type Part string

// The parts.
const (
	CLI     Part = "cli"     // commands
	Console Part = "console" // pages in the browser
	Alerts  Part = "alert"   // messages and the digest
	Report  Part = "report"  // the reconciliation
	Sandbox Part = "sandbox" // the sandbox's inspection page
	// what the program met: the sentences of codes with arguments
	Sentences Part = "sentences"
	Trade     Part = "trade" // states, causes, fields, and what to do about them
)

//go:embed pt-BR.json
var file []byte

// catalogue is the file; it is read once.
var catalogue = sync.OnceValue(func() (out struct {
	Codes map[Part]map[Key][]string // each in English and in Portuguese, or once if both are the same
	Said  map[Key]string            // Portuguese by the English sentence
},
) {
	if err := json.Unmarshal(file, &out); err != nil { // a fault that every test finds
		panic(err)
	}
	return out
})

// Text returns the sentence of a code, or that which the key itself is, with its arguments (see [Format]).
// For an empty key it returns "", for an unknown code the code itself.
func (p Part) Text(lang Lang, key Key, args ...any) string {
	sentence := p.Find(lang, key)
	if sentence == "" {
		sentence, _ = SentenceForm(lang, key)
	}
	if len(args) == 0 {
		return sentence
	}
	return Format(sentence, args...)
}

// Find returns the sentence of a code, or "" if the part has none.
func (p Part) Find(lang Lang, code Key) string {
	texts := catalogue().Codes[p][code]
	switch {
	case len(texts) == 0:
		return ""
	case lang == English:
		return texts[0]
	}
	return texts[len(texts)-1]
}

// Has reports whether the part has the code.
func (p Part) Has(code Key) bool { return catalogue().Codes[p][code] != nil }

// Names returns the rest of each code that begins with the prefix, in alphabetical order.
func (p Part) Names(prefix string) []string {
	var out []string
	for code := range catalogue().Codes[p] {
		if name, ok := strings.CutPrefix(code, prefix); ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
