package i18n

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
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

// aside matches a command in parentheses in a sentence.
var aside = regexp.MustCompile(" *\\(`[^`]*`\\)")

// command matches a command that a sentence tells people to type.
var command = regexp.MustCompile("`safrasync ([a-z]+)[^`]*`|\\bsafrasync (release)\\b")

// decided matches what lists rows that people decide one by one.
var decided = regexp.MustCompile(` --state (in_doubt|held)\b`)

// buttons are the names of the console's buttons or pages that do the same as a command. All other
// commands are for IT, on the server.
var buttons = map[string]Key{
	"retry": "act.retry", "adopt": "act.adopt", "resend": "act.resend", "dismiss": "act.dismiss",
	"reopen": "act.reopen", "acknowledge": "act.acknowledge",
	"sync": "jobact.run", "resume": "jobact.resume", "release": "jobact.see", "refs": "nav.references",
	"rows": "nav.rows", "status": "nav.rows", "why": "nav.rows",
}

// InBrowser replaces the commands that a sentence tells people to type by the names of the console's
// pages and buttons, for people who have no command line.
func InBrowser(lang Lang, text string) string {
	text = command.ReplaceAllStringFunc(aside.ReplaceAllString(text, ""), func(found string) string {
		parts := command.FindStringSubmatch(found)
		if key, ok := buttons[parts[1]+parts[2]]; ok && !strings.Contains(found, "--record-only") { // for IT only
			switch {
			case key == "act.retry" && strings.Contains(found, "--checked"): // of what is held
				key = "doubt.go.two"
			case key == "nav.rows" && decided.MatchString(found):
				key = "nav.doubts"
			}
			named := "“" + Console.Text(lang, key) + "”"
			if key == "jobact.see" { // whoever reads it may not be the one who may
				named += Console.Text(lang, "jobact.release.who")
			}
			return named
		}
		return found
	})
	return strings.ReplaceAll(text, "`", "")
}

// PageName returns the name of a page of the console, by its path.
func PageName(lang Lang, path string) string { return Console.Text(lang, "nav."+path[1:]) }

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
