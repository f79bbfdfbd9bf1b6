package state

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/safrasync/safrasync/trade"
)

// The limits of the search terms of one row.
const (
	termsMost = 32
	termLong  = 40 // characters of one
)

// document is the first character of the terms of documents. Only users who may see documents
// search for them.
const document = "#"

// termsOf returns the words by which a row with these texts is found: folded, numbers without
// leading zeros, and each text between blanks also as one word. A document is a term of its own;
// the words of its masked form are terms too.
func termsOf(shown trade.Shown) []string {
	var out []string
	for _, t := range shown.Texts {
		masked := trade.MaskColumn(t.Label, t.Text)
		out = append(out, wordsOf(masked)...)
		if masked == t.Text {
			continue
		}
		whole := true // its parts may have blanks between them
		for _, token := range strings.Fields(t.Text) {
			if trade.MaskDocuments(token) != token {
				whole = false
				out = append(out, document+joinedDigits(token))
			}
		}
		if whole {
			out = append(out, document+joinedDigits(strings.Map(digitOnly, t.Text)))
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

// wordsOf returns the words of a text.
func wordsOf(text string) []string {
	var out []string
	for _, token := range strings.Fields(text) {
		parts := strings.FieldsFunc(token, betweenWords)
		for _, part := range parts {
			out = append(out, joinedDigits(part))
		}
		if len(parts) > 1 {
			out = append(out, joinedDigits(token))
		}
	}
	return slices.DeleteFunc(out, func(w string) bool { return w == "" })
}

func betweenWords(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// joinedDigits returns a text as one folded word: without separators and accents, and a number without
// leading zeros.
func joinedDigits(text string) string {
	var b strings.Builder
	for _, r := range norm.NFD.String(strings.ToLower(text)) {
		if !betweenWords(r) {
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

// kinds are words with which people name what they search for; they do not narrow the search.
var kinds = []string{
	"contrato", "contratos", "contract", "entrega", "entregas", "delivery", "romaneio", "romaneios", "ticket",
	"nota", "nf", "nfe", "invoice", "fixacao", "produtor", "producer", "cpf", "cnpj", "n", "no", "numero", "number",
	"id", "filial", "branch", "rastreabilidade", "traceability",
}

// searchedText is a search text, split into parts.
type searchedText struct {
	raw   string   // as typed, without the words in kinds
	parts []string // the parts between separators
	words []string // the blank-separated parts, folded
	told  bool     // the text had words in kinds
}

// searchedOf splits a search text.
func searchedOf(text string) searchedText {
	var tokens []string
	for _, token := range strings.Fields(text) {
		if !slices.Contains(kinds, joinedDigits(strings.Trim(token, "ºª°.:#"))) {
			tokens = append(tokens, token)
		}
	}
	if len(tokens) == 0 {
		tokens = strings.Fields(text)
	}
	a := searchedText{raw: strings.Join(tokens, " "), told: len(tokens) < len(strings.Fields(text))}
	a.parts = strings.FieldsFunc(a.raw, betweenWords)
	for _, token := range tokens { // "01/001004" is searched as one word
		if word := joinedDigits(token); word != "" && !slices.Contains(a.words, word) {
			a.words = append(a.words, word)
		}
	}
	return a
}
