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

// catalogue is the file, by part; it is read once.
var catalogue = sync.OnceValue(func() (out map[Part]json.RawMessage) {
	must(json.Unmarshal(file, &out))
	return out
})

// must panics on an error. An embedded file that cannot be read is a fault that every test finds.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Decode decodes a part as one language has it.
func (p Part) Decode(lang Lang, into any) {
	var tree any
	must(json.Unmarshal(catalogue()[p], &tree))
	text, err := json.Marshal(in(lang, tree))
	must(err)
	must(json.Unmarshal(text, into))
}

// in returns the texts of a language: of each pair the first in English, and otherwise the second. A text
// that is no pair is the same in both.
func in(lang Lang, tree any) any {
	switch t := tree.(type) {
	case []any:
		if lang == English {
			return t[0]
		}
		return t[1]
	case map[string]any:
		out := make(map[string]any, len(t))
		for key, value := range t {
			out[key] = in(lang, value)
		}
		return out
	}
	return tree
}

var sentences sync.Map // by partIn, map[Key]string

type partIn struct {
	part Part
	lang Lang
}

// All returns the sentences of the part by code. The caller must not change them.
func (p Part) All(lang Lang) map[Key]string {
	if lang != English {
		lang = Portuguese
	}
	known, ok := sentences.Load(partIn{p, lang})
	if !ok {
		var out map[Key]string
		p.Decode(lang, &out)
		known, _ = sentences.LoadOrStore(partIn{p, lang}, out)
	}
	return known.(map[Key]string)
}

// Text returns the sentence of a code, or that which the key itself is. For an empty key it returns "",
// for an unknown code the code itself.
func (p Part) Text(lang Lang, key Key) string {
	sentence, ok := p.All(lang)[key]
	if !ok {
		sentence, _ = Said(lang, string(key))
	}
	return sentence
}

// Find returns the sentence of a code, or "" if the part has none.
func (p Part) Find(lang Lang, key Key) string { return p.All(lang)[key] }

// Has reports whether the part has the code.
func (p Part) Has(key Key) bool {
	_, ok := p.All(Portuguese)[key]
	return ok
}

// Names returns the rest of each code that begins with the prefix, in alphabetical order.
func (p Part) Names(prefix string) []string {
	var out []string
	for key := range p.All(Portuguese) {
		if name, ok := strings.CutPrefix(string(key), prefix); ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
