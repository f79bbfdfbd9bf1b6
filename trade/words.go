package trade

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/safrasync/safrasync/internal/i18n"
)

// Lang is a language for people; JSON, logs and identifiers are always English.
type Lang = i18n.Lang

// The languages. Whatever accountants see is in Portuguese first.
const (
	Portuguese = i18n.Portuguese
	English    = i18n.English
)

// ParseLang parses `language` of the configuration or the environment's LANG; anything that is not
// English is Portuguese.
func ParseLang(text string) Lang {
	if strings.HasPrefix(strings.ToLower(text), "en") {
		return English
	}
	return Portuguese
}

// words are the texts of one language.
type words struct {
	States   map[State]string  `json:"states"`
	Fields   map[string]string `json:"fields"`
	Rules    map[string]string `json:"rules"` // with {field} and {detail}
	Cures    map[string]Advice `json:"cures"` // by rule, with {}: only what differs from causes["rule"]
	Causes   map[string]Advice `json:"causes"`
	Standing map[State]Advice  `json:"standing"` // what a state means, if no cause explains more
	Remarks  map[Flag]Advice   `json:"remarks"`  // what a flag means
	Stops    map[string]Advice `json:"stops"`
	Fixers   map[Fixer]string  `json:"fixers"`
	Again    map[Again]string  `json:"again"`
	Unknown  Advice            `json:"unknown"`
	Refused  Advice            `json:"refused"` // the platform refused without naming a cause
	Flags    map[Flag]string   `json:"flags"`
	Kinds    map[string]string `json:"kinds"`   // de-para kinds, singular
	Parents  map[State]string  `json:"parents"` // waiting for a parent in that state; with {key}, {job} and {why}
	// the same as a task: how to cure the parent; with {key}, {job}, {why} and {do}
	Solve    map[State]Advice `json:"solve"`
	Records  map[Kind]noun    `json:"records"`
	Code     string           `json:"code"`     // between the name of a code's kind and the code
	Spelled  string           `json:"spelled"`  // a code that differs in capitals only; with {code}
	Accents  string           `json:"accents"`  // a key that differs in the form of its accents only
	Platform string           `json:"platform"` // waiting for a platform record; with {kind} and {id}
	Place    string           `json:"place"`    // where a column is: format of (column)
	Column   string           `json:"column"`   // format of (column, value)
	Columns  string           `json:"columns"`  // the same for several columns
	Blank    string           `json:"blank"`    // format of (column)
	Empty    string           `json:"empty"`    // an empty part of a key
	Blanks   string           `json:"blanks"`   // the same for several columns that form one key or code
	Hidden   string           `json:"hidden"`   // format of (column), for a value that cannot be shown
	Nowhere  string           `json:"nowhere"`
	// what an advice promises for a row that has only one fault, and what it says if there are more,
	// with {what}
	Promises []string `json:"promises"`
	Besides  string   `json:"besides"`
	// what a held row was compared with; with {key}, {job}, {id} and {rows}
	Counterparts map[string]string `json:"counterparts"`
}

// noun is the singular and plural of something.
type noun struct {
	One  string `json:"one"`
	Many string `json:"many"`
	// title of a job that alone sends such records
	Title string `json:"title"`
}

// wordsIn returns the texts of a language, which are loaded once.
func wordsIn(l Lang) *words {
	if l == English {
		return english()
	}
	return portuguese()
}

var (
	english    = sync.OnceValue(func() *words { return readWords(English) })
	portuguese = sync.OnceValue(func() *words { return readWords(Portuguese) })
)

func readWords(l Lang) *words {
	w := &words{}
	i18n.Trade.Decode(l, w)
	w.Standing[InDoubt] = w.Causes[CauseUnknown] // which every row in doubt has
	return w
}

// Label returns the state's name for people; the texts are in part trade of package i18n.
func (s State) Label(lang Lang) string { return wordsIn(lang).States[s] }

// Label returns the flag's name for people.
func (f Flag) Label(lang Lang) string { return wordsIn(lang).Flags[f] }

// FieldLabel returns a field's name for people, or the API's name if there is none.
func FieldLabel(field string, lang Lang) string {
	label, ok := wordsIn(lang).Fields[field]
	if !ok || label == field {
		return field
	}
	return label
}

// Sentence returns in words what is wrong, where the ERP has it, and what would be right: "COMPRA
// requires payday; column dt_pagto is empty".
func (p Problem) Sentence(lang Lang) string {
	w := wordsIn(lang)
	rule, about := baseRule(p.Rule)
	detail := i18n.Tell(lang, p.Detail)
	switch rule {
	case RuleRequiredFor:
		detail = about
	case RuleRequiredWith:
		detail = FieldLabel(about, lang)
	}
	form, ok := w.Rules[rule]
	if !ok {
		form = "{field}: " + rule
	}
	switch {
	case rule == RuleDateOrder:
		detail = FieldLabel(detail, lang)
	case rule == RuleDateWindow && lang != English:
		detail = isoDay.ReplaceAllString(detail, "$3/$2/$1")
	}
	text := strings.NewReplacer("{field}", FieldLabel(p.Field, lang), "{detail}", detail).Replace(form)
	if rule == RuleDeclared {
		return string(p.Detail) + " (" + p.Column + ")"
	}
	several := strings.Contains(p.Column, ", ")
	switch {
	case p.Column == "":
		return text + "; " + w.Nowhere
	case (rule == RuleUnreadable || rule == RuleDocument) && p.Value == "":
		return text + "; " + fmt.Sprintf(w.Hidden, p.Column)
	case p.Value == "" && several:
		return text + "; " + fmt.Sprintf(w.Blanks, p.Column)
	case p.Value == "":
		return text + "; " + fmt.Sprintf(w.Blank, p.Column)
	case several:
		return text + "; " + fmt.Sprintf(w.Columns, p.Column, p.Value)
	}
	return text + "; " + fmt.Sprintf(w.Column, p.Column, p.Value)
}

// isoDay is a day within a detail.
var isoDay = regexp.MustCompile(`\b(\d{4})-(\d{2})-(\d{2})\b`)

// baseRule splits a rule that ends with a name into the rule and the name.
func baseRule(rule string) (base, about string) {
	for _, base := range []string{RuleRequiredFor, RuleRequiredWith} {
		if about, ok := strings.CutPrefix(rule, base); ok {
			return base, about
		}
	}
	return rule, ""
}

// What returns what is wrong, without the place, which differs from row to row.
func (p Problem) What(lang Lang) string {
	if p.Rule == RuleDeclared {
		return string(p.Detail)
	}
	what, _, _ := strings.Cut(p.Sentence(lang), "; ")
	return what
}

// Sentences joins the sentences of all problems of a row.
func Sentences(problems []Problem, lang Lang) string {
	texts := Map(problems, func(p Problem) string { return p.Sentence(lang) })
	return i18n.OneStop(strings.Join(texts, ". "))
}

// Advice is what people are told about a problem.
type Advice struct {
	What  string // what it means
	Who   string // who can cure it
	Where string // where
	Do    string // what to do, and what happens then
	Fixer Fixer  // who, as one word
	Again Again  // whether sending the row again is safe
}

// explain returns the words of an advice.
func explain(state State, cause string, lang Lang) Advice {
	w := wordsIn(lang)
	if state == Dismissed { // its cause is from before the dismissal
		cause = ""
	}
	for _, key := range []string{string(state) + "/" + cause, cause, string(state)} {
		if a, ok := w.Causes[key]; ok && key != "" {
			return a
		}
	}
	if field, ok := strings.CutPrefix(cause, "rule:"); ok {
		return w.Causes["rule"].with(FieldLabel(field, lang))
	}
	if a, ok := w.Standing[state]; ok && cause == "" {
		return a
	}
	if cause == "" {
		return w.Refused
	}
	if kind, ok := strings.CutPrefix(cause, "ref:"); ok {
		return w.Causes["ref"].with(w.Kinds[kind])
	}
	if pattern := messagePattern(cause); pattern != "" {
		a := w.Causes[pattern].with(messageSubject(cause, lang))
		a.What += " (" + cause + ")"
		return a
	}
	return w.Unknown.with(cause)
}

// Advice returns what is wrong with the field, who can cure it and how: an empty column needs
// another cure than a value that is missing in a value map.
func (p Problem) Advice(lang Lang) Advice {
	w := wordsIn(lang)
	rule, _ := baseRule(p.Rule)
	a, ok := w.Cures[rule]
	if p.Column == "" && rule != RuleInternal { // the ERP's users cannot correct it
		a, ok = w.Cures[adviceNotMapped], true
	}
	if !ok {
		a = w.Causes["rule"]
		a.What = p.What(lang)
	}
	if a.What == "" {
		a.What = p.What(lang)
	}
	switch {
	case a.Where != "":
	case p.Column == "":
		a.Where = w.Causes["message.malformed-request"].Where // the configuration
	default:
		a.Where = fmt.Sprintf(w.Place, p.Column)
	}
	a.Fixer, a.Again = FixERP, AgainAutomatic
	switch {
	case rule == RuleInternal, p.Column == "":
		a.Fixer = FixIT
	case rule == RuleUUID:
		a.Fixer = FixReferences
	}
	return a.with(FieldLabel(p.Field, lang))
}

// adviceNotMapped is the key of the cure for a field that only the configuration determines.
const adviceNotMapped = "not mapped"

func (a Advice) with(subject string) Advice {
	fill := func(s string) string { return strings.ReplaceAll(s, "{}", subject) }
	a.What, a.Where, a.Do = fill(a.What), fill(a.Where), fill(a.Do)
	return a
}

// ControlsTerminal reports whether a character can control a terminal or change the reading direction of a
// line: a control character (C0, DEL, C1), a bidirectional control, or a line or paragraph
// separator.
func ControlsTerminal(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// Unseen reports whether a character cannot be seen, or looks like a blank and is none: two texts that
// differ in it look alike.
func Unseen(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Cc, unicode.Co) || unicode.IsSpace(r) && r != ' ' || r == '\u3164'
}

// Visible replaces each character for which ControlsTerminal is true, except line breaks and tabs.
// Every page and file for people must be passed through it.
func Visible(text string) string {
	return strings.Map(func(r rune) rune {
		if ControlsTerminal(r) && !strings.ContainsRune("\n\r\t", r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// EscapeJSON writes the characters for which ControlsTerminal is true as \u escapes in a JSON text, except
// newlines; the JSON value stays the same. encoding/json does that only below 0x20.
func EscapeJSON(text []byte) []byte {
	if !bytes.ContainsFunc(text, ControlsTerminal) {
		return text
	}
	var out strings.Builder
	for _, r := range string(text) {
		if r != '\n' && ControlsTerminal(r) {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	return []byte(out.String())
}
