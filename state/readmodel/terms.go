package readmodel

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/safrasync/safrasync/trade"
)

// The bounds of what one row is found by.
const (
	termsMost = 32
	termLong  = 40 // characters of one
)

// document begins the terms of documents, which only those look for who may see them.
const document = "#"

// termsOf are the words by which a row is found that shows these texts: folded, numbers without the
// zeros in front, and what stands between separators as one word, too. A document is one word of
// its own, and what its masked form shows.
func termsOf(shown trade.Shown) []string {
	var out []string
	for _, t := range shown.Texts {
		masked := trade.MaskDocuments(t.Text)
		out = append(out, wordsOf(masked)...)
		if masked == t.Text {
			continue
		}
		whole := true // its parts may have blanks between them
		for _, token := range strings.Fields(t.Text) {
			if trade.MaskDocuments(token) != token {
				whole = false
				out = append(out, document+joined(token))
			}
		}
		if whole {
			out = append(out, document+joined(strings.Map(digitOnly, t.Text)))
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), termsMost)]
}

func digitOnly(r rune) rune {
	if r < '0' || r > '9' {
		return -1
	}
	return r
}

// wordsOf are the words of a text.
func wordsOf(text string) []string {
	var out []string
	for _, token := range strings.Fields(text) {
		parts := strings.FieldsFunc(token, between)
		for _, part := range parts {
			out = append(out, joined(part))
		}
		if len(parts) > 1 {
			out = append(out, joined(token))
		}
	}
	return slices.DeleteFunc(out, func(w string) bool { return w == "" })
}

func between(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// joined is a text as one folded word: without separators and accents, and a number without the
// zeros in front.
func joined(text string) string {
	var b strings.Builder
	for _, r := range norm.NFD.String(strings.ToLower(text)) {
		if !between(r) {
			b.WriteRune(r)
		}
	}
	word := b.String()
	if strings.Trim(word, "0123456789") == "" {
		word = strings.TrimLeft(word, "0")
	}
	if utf8.RuneCountInString(word) > termLong {
		word = string([]rune(word)[:termLong])
	}
	return word
}

// kinds are words by which people say what they look for; they narrow nothing.
var kinds = []string{
	"contrato", "contratos", "contract", "entrega", "entregas", "delivery", "romaneio", "romaneios", "ticket",
	"nota", "nf", "nfe", "invoice", "fixacao", "produtor", "producer", "cpf", "cnpj", "n", "no", "numero", "number",
	"id", "filial", "branch", "rastreabilidade", "traceability",
}

// asked is a text that a person looks for, taken apart.
type asked struct {
	raw   string   // as it was typed, without the words that say what it is
	parts []string // of it, between separators
	words []string // the same, folded
	told  bool     // there were words that say what it is
}

// askedOf takes a text apart.
func askedOf(text string) asked {
	var tokens []string
	for _, token := range strings.Fields(text) {
		if !slices.Contains(kinds, joined(strings.Trim(token, "ºª°.:#"))) {
			tokens = append(tokens, token)
		}
	}
	if len(tokens) == 0 {
		tokens = strings.Fields(text)
	}
	a := asked{raw: strings.Join(tokens, " "), told: len(tokens) < len(strings.Fields(text))}
	a.parts = strings.FieldsFunc(a.raw, between)
	for _, token := range tokens { // "01/001004" is looked for as one word
		if word := joined(token); word != "" {
			a.words = append(a.words, word)
		}
	}
	return a
}
