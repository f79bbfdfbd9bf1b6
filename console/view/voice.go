package view

import (
	"time"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/trade"
)

// Voice writes for people: in a language, on the clock of a zone.
type Voice struct {
	lang trade.Lang
	zone *time.Location
}

// NewVoice writes in a language, on the clock of a zone.
func NewVoice(lang trade.Lang, zone *time.Location) Voice { return Voice{lang, zone} }

// T returns a phrase. A key that does not exist is shown as it is, and found by a test.
func (v Voice) T(key string, args ...any) string {
	format := i18n.Console.Text(v.lang, i18n.Key(key))
	if len(args) == 0 {
		return format
	}
	return i18n.Format(format, args...)
}

// Has reports whether there is a phrase.
func (v Voice) Has(key string) bool {
	return i18n.Console.Has(i18n.Key(key))
}

// Lang is the language for the attribute of the page.
func (v Voice) Lang() string { return string(v.lang) }

// Language is the language for texts of package trade.
func (v Voice) Language() trade.Lang { return v.lang }

// State is a state's name.
func (v Voice) State(s trade.State) string { return s.Label(v.lang) }

// Flag is a flag's name.
func (v Voice) Flag(f trade.Flag) string { return f.Label(v.lang) }

// Kind is what a job sends, in the plural.
func (v Voice) Kind(k trade.Kind) string { return k.Plural(v.lang) }

// FieldName is a field's name.
func (v Voice) FieldName(field string) string { return trade.FieldLabel(field, v.lang) }

// Role is a role's name.
func (v Voice) Role(r trade.Role) string { return v.T("role." + string(r)) }
