package view

import (
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/trade"
)

// Voice formats values and texts for people, in a language and a time zone.
type Voice struct {
	lang trade.Lang
	zone *time.Location
}

// NewVoice returns a voice for a language and a time zone.
func NewVoice(lang trade.Lang, zone *time.Location) Voice { return Voice{lang, zone} }

// T returns a phrase, with its numbers as people write them. An unknown key is returned unchanged; a test
// finds it.
func (v Voice) T(key i18n.Key, args ...any) string {
	for i, arg := range args {
		if n, ok := arg.(int); ok {
			args[i] = v.Number(n)
		}
	}
	return i18n.Console.Text(v.lang, key, args...)
}

// Has reports whether there is a phrase for a key.
func (v Voice) Has(key string) bool {
	return i18n.Console.Has(key)
}

// Lang returns the language for the page's lang attribute.
func (v Voice) Lang() string { return string(v.lang) }

// Language returns the language for package trade.
func (v Voice) Language() trade.Lang { return v.lang }

// State returns the short name of a state.
func (v Voice) State(s trade.State) string { return strings.Split(s.Label(v.lang), " (")[0] }

// CauseName returns a cause in a few words.
func (v Voice) CauseName(cause, what string) string { return trade.CauseName(cause, what, v.lang) }

// Flag returns the name of a flag.
func (v Voice) Flag(f trade.Flag) string { return f.Label(v.lang) }

// Kind returns the name of a kind of record, in the plural.
func (v Voice) Kind(k trade.Kind) string { return k.Plural(v.lang) }

// FieldName returns the name of a field.
func (v Voice) FieldName(field string) string { return trade.FieldLabel(field, v.lang) }

// Role returns the name of a role.
func (v Voice) Role(r trade.Role) string { return v.T("role." + string(r)) }
