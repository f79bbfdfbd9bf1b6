package trade

import (
	"fmt"
	"regexp"
	"strings"
)

// Lang is a language of people; JSON, logs and identifiers are English always.
type Lang string

// The languages. Portuguese comes first in everything that accountants see.
const (
	Portuguese Lang = "pt-BR"
	English    Lang = "en"
)

// ParseLang reads `language` of the configuration or the environment's LANG; anything that is not English is Portuguese.
func ParseLang(text string) Lang {
	if strings.HasPrefix(strings.ToLower(text), "en") {
		return English
	}
	return Portuguese
}

// words are the sentences of one language.
type words struct {
	states   map[State]string
	fields   map[string]string
	rules    map[string]string // with {field} and {detail}
	details  [][2]string       // what packages erp and sync say in English, and in these words; the longer beginnings first
	cures    map[string]Advice // by rule, with {}: only what differs from causes["rule"]
	causes   map[string]Advice
	standing map[State]Advice // what a state means, where no cause says more
	remarks  map[Flag]Advice  // what a flag means
	stops    map[string]Advice
	fixers   map[Fixer]string
	again    map[Again]string
	unknown  Advice
	refused  Advice // the platform refused and named no cause
	flags    map[Flag]string
	kinds    map[string]string // de-para kinds, singular
	parents  map[State]string  // waiting for a parent in that state, with {key}, {job} and {why}
	solve    map[State]Advice  // the same as a task, with {key}, {job}, {why} and {do}: what cures the parent
	records  map[Kind]noun
	code     string // between what a code stands for and the code
	platform string // waiting for a record of the platform, with {kind} and {id}
	place    string // where a column is: format of (column)
	column   string // format of (column, value)
	columns  string // the same of several columns
	blank    string // format of (column)
	blanks   string // the same of several columns, which make one key or code
	hidden   string // format of (column): it has a value that cannot be shown
	nowhere  string
}

// noun is what one and several of something are called.
type noun struct{ one, many string }

func (l Lang) words() *words {
	if l == English {
		return &english
	}
	return &portuguese
}

// Label is the state's name for people.
func (s State) Label(lang Lang) string { return lang.words().states[s] }

// Label is the flag's name for people.
func (f Flag) Label(lang Lang) string { return lang.words().flags[f] }

// FieldLabel is a field's name for people, with the API's name where they differ.
func FieldLabel(field string, lang Lang) string {
	label, ok := lang.words().fields[field]
	if !ok || label == field {
		return field
	}
	return label
}

// Sentence says in words what is wrong, where the ERP has it, and what would be right: "COMPRA requires payday; column dt_pagto is empty".
func (p Problem) Sentence(lang Lang) string {
	w := lang.words()
	rule, about := baseRule(p.Rule)
	detail := p.Detail
	switch rule {
	case RuleRequiredFor:
		detail = about
	case RuleRequiredWith:
		detail = FieldLabel(about, lang)
	}
	form, ok := w.rules[rule]
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
		return text + "; " + w.nowhere
	case (rule == RuleUnreadable || rule == RuleDocument) && p.Value == "":
		return text + "; " + fmt.Sprintf(w.hidden, p.Column)
	case p.Value == "" && several:
		return text + "; " + fmt.Sprintf(w.blanks, p.Column)
	case p.Value == "":
		return text + "; " + fmt.Sprintf(w.blank, p.Column)
	case several:
		return text + "; " + fmt.Sprintf(w.columns, p.Column, p.Value)
	}
	return text + "; " + fmt.Sprintf(w.column, p.Column, p.Value)
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

// detail gives a detail in the words of the language; what it does not know stays as it is.
func (w *words) detail(text string) string {
	for _, d := range w.details {
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

// Explain gives the advice for a cause in a state, in the program's own words. Unknown message keys of the API are shown as they are.
func Explain(state State, cause string, lang Lang) Advice {
	return (*Catalogue)(nil).Explain(state, cause, lang)
}

// explain finds the program's words, and what {} in them stands for.
func explain(state State, cause string, lang Lang) (a Advice, subject string) {
	w := lang.words()
	if state == Dismissed { // its cause is of the time before
		cause = ""
	}
	for _, key := range []string{string(state) + "/" + cause, cause, string(state)} {
		if a, ok := w.causes[key]; ok && key != "" {
			return a, ""
		}
	}
	if field, ok := strings.CutPrefix(cause, "rule:"); ok {
		return w.causes["rule"].with(FieldLabel(field, lang)), FieldLabel(field, lang)
	}
	if a, ok := w.standing[state]; ok && cause == "" {
		return a, ""
	}
	if cause == "" {
		return w.refused, ""
	}
	if kind, ok := strings.CutPrefix(cause, "ref:"); ok {
		return w.causes["ref"].with(w.kinds[kind]), w.kinds[kind]
	}
	if pattern := messagePattern(cause); pattern != "" {
		a = w.causes[pattern].with(messageSubject(cause, lang))
		a.What += " (" + cause + ")"
		return a, messageSubject(cause, lang)
	}
	return w.unknown.with(cause), cause
}

// Advice is what is wrong with the field, who can cure it and how: what cures an empty column does not cure a value that no map has.
func (p Problem) Advice(lang Lang) Advice { return p.advice(lang) }

func (p Problem) advice(lang Lang) Advice {
	w := lang.words()
	rule, _ := baseRule(p.Rule)
	a, ok := w.cures[rule]
	if p.Column == "" && rule != RuleInternal { // nothing that the ERP's users could correct
		a, ok = w.cures[adviceNotMapped], true
	}
	if !ok {
		a = w.causes["rule"]
		a.What = p.What(lang)
	}
	if a.What == "" {
		a.What = p.What(lang)
	}
	switch {
	case a.Where != "":
	case p.Column == "":
		a.Where = w.causes["message.malformed-request"].Where // the configuration
	default:
		a.Where = fmt.Sprintf(w.place, p.Column)
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
