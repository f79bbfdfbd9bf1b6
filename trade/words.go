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

// Lang is a language of people; JSON, logs and identifiers are English always.
type Lang = i18n.Lang

// The languages. Portuguese comes first in everything that accountants see.
const (
	Portuguese = i18n.Portuguese
	English    = i18n.English
)

// ParseLang reads `language` of the configuration or the environment's LANG; anything that is not
// English is Portuguese.
func ParseLang(text string) Lang {
	if strings.HasPrefix(strings.ToLower(text), "en") {
		return English
	}
	return Portuguese
}

// words are the sentences of one language.
type words struct {
	States map[State]string  `json:"states"`
	Fields map[string]string `json:"fields"`
	Rules  map[string]string `json:"rules"` // with {field} and {detail}
	// what packages erp and sync say in English, and in these words; the longer beginnings first
	Details  [][2]string       `json:"details"`
	Cures    map[string]Advice `json:"cures"` // by rule, with {}: only what differs from causes["rule"]
	Causes   map[string]Advice `json:"causes"`
	Standing map[State]Advice  `json:"standing"` // what a state means, where no cause says more
	Remarks  map[Flag]Advice   `json:"remarks"`  // what a flag means
	Stops    map[string]Advice `json:"stops"`
	Fixers   map[Fixer]string  `json:"fixers"`
	Again    map[Again]string  `json:"again"`
	Unknown  Advice            `json:"unknown"`
	Refused  Advice            `json:"refused"` // the platform refused and named no cause
	Flags    map[Flag]string   `json:"flags"`
	Kinds    map[string]string `json:"kinds"`   // de-para kinds, singular
	Parents  map[State]string  `json:"parents"` // waiting for a parent in that state, with {key}, {job} and {why}
	// the same as a task, with {key}, {job}, {why} and {do}: what cures the parent
	Solve    map[State]Advice `json:"solve"`
	Records  map[Kind]noun    `json:"records"`
	Code     string           `json:"code"`     // between what a code stands for and the code
	Platform string           `json:"platform"` // waiting for a record of the platform, with {kind} and {id}
	Place    string           `json:"place"`    // where a column is: format of (column)
	Column   string           `json:"column"`   // format of (column, value)
	Columns  string           `json:"columns"`  // the same of several columns
	Blank    string           `json:"blank"`    // format of (column)
	Blanks   string           `json:"blanks"`   // the same of several columns, which make one key or code
	Hidden   string           `json:"hidden"`   // format of (column): it has a value that cannot be shown
	Nowhere  string           `json:"nowhere"`
}

// noun is what one and several of something are called.
type noun struct {
	One  string `json:"one"`
	Many string `json:"many"`
	// of a job that alone sends such records
	Title string `json:"title"`
}

// wordsIn returns the words of a language, which are read once.
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

// Label is the state's name for people: the words stand in part trade of package i18n.
func (s State) Label(lang Lang) string { return wordsIn(lang).States[s] }

// Label is the flag's name for people.
func (f Flag) Label(lang Lang) string { return wordsIn(lang).Flags[f] }

// FieldLabel is a field's name for people, with the API's name where they differ.
func FieldLabel(field string, lang Lang) string {
	label, ok := wordsIn(lang).Fields[field]
	if !ok || label == field {
		return field
	}
	return label
}

// Sentence says in words what is wrong, where the ERP has it, and what would be right: "COMPRA
// requires payday; column dt_pagto is empty".
func (p Problem) Sentence(lang Lang) string {
	w := wordsIn(lang)
	rule, about := baseRule(p.Rule)
	detail := p.Detail
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
	text := fillIn(form, FieldLabel(p.Field, lang), w.detail(detail))
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

// isoDay is a day within a detail, as it is stored.
var isoDay = regexp.MustCompile(`\b(\d{4})-(\d{2})-(\d{2})\b`)

// baseRule takes a rule that names something apart: the rule, and what it names.
func baseRule(rule string) (base, about string) {
	for _, base := range []string{RuleRequiredFor, RuleRequiredWith} {
		if about, ok := strings.CutPrefix(rule, base); ok {
			return base, about
		}
	}
	return rule, ""
}

// What says what is wrong, without the place, which differs from row to row.
func (p Problem) What(lang Lang) string {
	what, _, _ := strings.Cut(p.Sentence(lang), "; ")
	return what
}

// detail returns a detail in the words of the language; what it does not know stays as it is.
func (w *words) detail(text string) string {
	for _, d := range w.Details {
		if rest, ok := strings.CutPrefix(text, d[0]); ok {
			return d[1] + rest
		}
	}
	return text
}

// fillIn puts the field and the detail into a sentence; a sentence need not use both.
func fillIn(form, field, detail string) string {
	return strings.NewReplacer("{field}", field, "{detail}", detail).Replace(form)
}

// Sentences joins the sentences of all problems of a row.
func Sentences(problems []Problem, lang Lang) string {
	out := make([]string, len(problems))
	for i, p := range problems {
		out[i] = p.Sentence(lang)
	}
	return strings.Join(out, ". ")
}

// Advice is what people are told about a kind of trouble.
type Advice struct {
	What  string // what it means
	Who   string // who can cure it
	Where string // where
	Do    string // what to do; what happens then
	Fixer Fixer  // who, in one word
	Again Again  // whether sending the row again is safe
}

// Explain returns the advice for a cause in a state, in the program's own words. Unknown message
// keys of the API are shown as they are.
func Explain(state State, cause string, lang Lang) Advice {
	return (*Catalogue)(nil).Explain(state, cause, lang)
}

// explain finds the program's words, and what {} in them stands for.
func explain(state State, cause string, lang Lang) (a Advice, subject string) {
	w := wordsIn(lang)
	if state == Dismissed { // its cause is of the time before
		cause = ""
	}
	for _, key := range []string{string(state) + "/" + cause, cause, string(state)} {
		if a, ok := w.Causes[key]; ok && key != "" {
			return a, ""
		}
	}
	if field, ok := strings.CutPrefix(cause, "rule:"); ok {
		return w.Causes["rule"].with(FieldLabel(field, lang)), FieldLabel(field, lang)
	}
	if a, ok := w.Standing[state]; ok && cause == "" {
		return a, ""
	}
	if cause == "" {
		return w.Refused, ""
	}
	if kind, ok := strings.CutPrefix(cause, "ref:"); ok {
		return w.Causes["ref"].with(w.Kinds[kind]), w.Kinds[kind]
	}
	if pattern := messagePattern(cause); pattern != "" {
		a = w.Causes[pattern].with(messageSubject(cause, lang))
		a.What += " (" + cause + ")"
		return a, messageSubject(cause, lang)
	}
	return w.Unknown.with(cause), cause
}

// Advice is what is wrong with the field, who can cure it and how: what cures an empty column does
// not cure a value that no map has.
func (p Problem) Advice(lang Lang) Advice {
	w := wordsIn(lang)
	rule, _ := baseRule(p.Rule)
	a, ok := w.Cures[rule]
	if p.Column == "" && rule != RuleInternal { // nothing that the ERP's users could correct
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
	a.Fixer, a.Again = problemFixer(rule, p.Column), AgainAutomatic
	return a.with(FieldLabel(p.Field, lang))
}

// problemFixer says who can cure a broken rule.
func problemFixer(rule, column string) Fixer {
	switch {
	case rule == RuleInternal, column == "":
		return FixIT
	case rule == RuleUUID:
		return FixReferences
	}
	return FixERP
}

// adviceNotMapped is the cure for a field that comes from the configuration alone.
const adviceNotMapped = "not mapped"

func (a Advice) with(subject string) Advice {
	fill := func(s string) string { return strings.ReplaceAll(s, "{}", subject) }
	a.What, a.Where, a.Do = fill(a.What), fill(a.Where), fill(a.Do)
	return a
}

// Steers reports whether a character can drive a terminal, or turn the direction in which a line is
// read: a control character (C0, DEL, C1) or one of the bidirectional controls.
func Steers(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// EscapeJSON writes what steers as \u escapes in a JSON text, which stays the same value.
// encoding/json does it below 0x20 only.
func EscapeJSON(text []byte) []byte {
	if !bytes.ContainsFunc(text, Steers) {
		return text
	}
	var out strings.Builder
	for _, r := range string(text) {
		if r != '\n' && Steers(r) {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	return []byte(out.String())
}
