package i18n

import (
	"embed"
	"encoding/json"
	"maps"
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

// Key names a sentence within its part.
type Key string

// Part is a part of the program with its own sentences: a member of both files.
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

//go:embed pt-BR.json en.json
var files embed.FS

// parts returns the file of a language by part; it reads the file once.
func parts(lang Lang) map[Part]json.RawMessage {
	if lang == English {
		return english()
	}
	return portuguese()
}

var (
	portuguese = sync.OnceValue(func() map[Part]json.RawMessage { return read("pt-BR.json") })
	english    = sync.OnceValue(func() map[Part]json.RawMessage { return read("en.json") })
)

func read(name string) (out map[Part]json.RawMessage) {
	text, err := files.ReadFile(name)
	must(err)
	must(json.Unmarshal(text, &out))
	return out
}

// must panics on an error. An embedded file that cannot be read is a fault that every test finds.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Decode decodes a part whose shape is not sentences by key.
func (p Part) Decode(lang Lang, into any) { must(json.Unmarshal(parts(lang)[p], into)) }

var sentences sync.Map // by partIn, map[Key]string

type partIn struct {
	part Part
	lang Lang
}

// All returns the sentences of the part by key. What reads the same in both languages stands in the
// Portuguese file alone; what reads the same under several keys has its Portuguese once, by the English
// sentence. The caller must not change them.
func (p Part) All(lang Lang) map[Key]string {
	if lang != English {
		lang = Portuguese
	}
	known, ok := sentences.Load(partIn{p, lang})
	if !ok {
		out, english := p.file(Portuguese), p.file(English)
		if lang == English {
			maps.Copy(out, english)
		}
		for key, sentence := range english {
			if _, ok := out[key]; !ok {
				out[key], _ = Said(lang, sentence)
			}
		}
		known, _ = sentences.LoadOrStore(partIn{p, lang}, out)
	}
	return known.(map[Key]string)
}

// file returns what the file of a language has of the part.
func (p Part) file(lang Lang) map[Key]string {
	read := map[Key]text{}
	if parts(lang)[p] != nil {
		p.Decode(lang, &read)
	}
	out := make(map[Key]string, len(read))
	for key, value := range read {
		out[key] = string(value)
	}
	return out
}

// Text returns the sentence of a key, or the Portuguese of one that is the English sentence itself. For
// an empty key it returns "", for an unknown key the key itself.
func (p Part) Text(lang Lang, key Key) string {
	sentence, ok := p.All(lang)[key]
	if !ok {
		sentence, _ = Said(lang, string(key))
	}
	return sentence
}

// Find returns the sentence of a key, or "" if the key is unknown.
func (p Part) Find(lang Lang, key Key) string { return p.All(lang)[key] }

// Has reports whether the part has the key.
func (p Part) Has(key Key) bool {
	_, ok := p.All(Portuguese)[key]
	return ok
}

// Names returns the rest of each key that begins with the prefix, in alphabetical order.
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

// text is a sentence, written as a string or as a list of its lines.
type text string

// UnmarshalJSON implements [json.Unmarshaler].
func (t *text) UnmarshalJSON(data []byte) error {
	var lines []string
	if len(data) > 0 && data[0] == '"' {
		lines = []string{""}
		if err := json.Unmarshal(data, &lines[0]); err != nil {
			return err
		}
	} else if err := json.Unmarshal(data, &lines); err != nil {
		return err
	}
	*t = text(strings.Join(lines, "\n"))
	return nil
}
