package trade

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"strings"
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

// find returns the text of a code in part trade of package i18n, or "" if it has none.
func find(lang Lang, code string) string { return i18n.Trade.Find(lang, code) }

// translate returns an English sentence in a language.
func translate(lang Lang, sentence i18n.Key) string { return i18n.Trade.Text(lang, sentence) }

// adviceOf returns the advice of a code. Without one it is zero: each says what to do.
func adviceOf(lang Lang, code string) Advice {
	return Advice{
		What:  find(lang, code+".what"),
		Who:   find(lang, code+".who"),
		Where: find(lang, code+".where"),
		Do:    find(lang, code+".do"),
	}
}

// Label returns the state's name for people.
func (s State) Label(lang Lang) string { return find(lang, "states."+string(s)) }

// Label returns the flag's name for people.
func (f Flag) Label(lang Lang) string { return find(lang, "flags."+string(f)) }

// FieldLabel returns a field's name for people, or the API's name if there is none.
func FieldLabel(field string, lang Lang) string {
	return cmp.Or(find(lang, "fields."+field), field)
}

// Sentence returns in words what is wrong, where the ERP has it, and what would be right: "COMPRA
// requires payday; column dt_pagto is empty".
func (p Problem) Sentence(lang Lang) string {
	rule, about := baseRule(p.Rule)
	detail := i18n.ErrorText(lang, p.Detail)
	switch rule {
	case RuleRequiredFor:
		detail = about
	case RuleRequiredWith:
		detail = FieldLabel(about, lang)
	}
	form := cmp.Or(find(lang, "rules."+rule), "{field}: "+rule)
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
		return text + "; " + translate(lang, "the configuration does not map this field")
	case (rule == RuleUnreadable || rule == RuleDocument) && p.Value == "":
		return text + "; " + fmt.Sprintf(translate(lang, "the value is in column %s"), p.Column)
	case p.Value == "" && several:
		return text + "; " + fmt.Sprintf(translate(lang, "columns %s contain no complete code"), p.Column)
	case p.Value == "":
		return text + "; " + fmt.Sprintf(translate(lang, "column %s is empty"), p.Column)
	case several:
		return text + "; " + fmt.Sprintf(translate(lang, "columns %s have %q"), p.Column, p.Value)
	}
	return text + "; " + fmt.Sprintf(translate(lang, "column %s has %q"), p.Column, p.Value)
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

// CauseName returns a cause in a few words, else the beginning of what it means.
func CauseName(cause, what string, lang Lang) string {
	if field, ok := strings.CutPrefix(cause, "rule:"); ok {
		return FieldLabel(field, lang)
	}
	what, _, _ = strings.Cut(what, " (")
	return cmp.Or(find(lang, "causes."+cause+".name"), what)
}

// explain returns the words of an advice.
func explain(state State, cause string, lang Lang) Advice {
	switch {
	case state == Dismissed: // its cause is from before the dismissal
		cause = ""
	case state == InDoubt && cause == "": // every row in doubt has it
		cause = CauseUnknown
	}
	for _, code := range []string{cause, string(state)} {
		if a := adviceOf(lang, "causes."+code); a.Do != "" {
			return a
		}
	}
	if field, ok := strings.CutPrefix(cause, "rule:"); ok {
		return adviceOf(lang, "causes.rule").with(FieldLabel(field, lang))
	}
	if cause == "" {
		if a := adviceOf(lang, "standing."+string(state)); a.Do != "" {
			return a
		}
		return adviceOf(lang, "refused")
	}
	if kind, ok := strings.CutPrefix(cause, "ref:"); ok {
		return adviceOf(lang, "causes.ref").with(find(lang, "kinds."+kind))
	}
	if pattern := messagePattern(cause); pattern != "" {
		a := adviceOf(lang, "causes."+pattern).with(messageSubject(cause, lang))
		a.What += " (" + cause + ")"
		return a
	}
	return adviceOf(lang, "unknown").with(cause)
}

// Advice returns what is wrong with the field, who can cure it and how: an empty column needs
// another cure than a value that is missing in a value map.
func (p Problem) Advice(lang Lang) Advice {
	rule, _ := baseRule(p.Rule)
	cure := rule
	if p.Column == "" && rule != RuleInternal { // the ERP's users cannot correct it
		cure = adviceNotMapped
	}
	a := adviceOf(lang, "cures."+cure)
	if a.Do == "" {
		a = adviceOf(lang, "causes.rule")
		a.What = ""
	}
	if a.What == "" {
		a.What = p.What(lang)
	}
	switch {
	case a.Where != "":
	case p.Column == "":
		a.Where = find(lang, "causes.message.malformed-request.where") // the configuration
	default:
		a.Where = fmt.Sprintf(translate(lang, "ERP, column %s"), p.Column)
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
