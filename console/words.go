package console

import (
	"fmt"
	"time"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/trade"
)

// voice is the language, the zone and the moment in which a page speaks.
type voice struct {
	lang trade.Lang
	zone *time.Location
	now  time.Time
}

// T gives a phrase. A key that does not exist is shown as it is, and found by a test.
func (v voice) T(key string, args ...any) string {
	format := i18n.Console.Text(v.lang, i18n.Key(key))
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}

// Has tells whether there is a phrase.
func (v voice) Has(key string) bool {
	return i18n.Console.Has(i18n.Key(key))
}

// Lang is the language for the attribute of the page.
func (v voice) Lang() string { return string(v.lang) }

// Language is the language for texts of package trade.
func (v voice) Language() trade.Lang { return v.lang }

// State is a state's name.
func (v voice) State(s trade.State) string { return s.Label(v.lang) }

// Flag is a flag's name.
func (v voice) Flag(f trade.Flag) string { return f.Label(v.lang) }

// Kind is what a job sends, in the plural.
func (v voice) Kind(k trade.Kind) string { return k.Plural(v.lang) }

// FieldName is a field's name.
func (v voice) FieldName(field string) string { return trade.FieldLabel(field, v.lang) }

// Role is a role's name.
func (v voice) Role(r trade.Role) string { return v.T("role." + string(r)) }
