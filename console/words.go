package console

import (
	"fmt"
	"maps"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// phrase is one sentence in both languages, with the same verbs in the same order.
type phrase struct{ pt, en string }

// voice is the language, the zone and the moment in which a page speaks.
type voice struct {
	lang trade.Lang
	zone *time.Location
	now  time.Time
}

// phrases are all that the console says, by key: the page, a point, and what it is.
var phrases = func() map[string]phrase {
	out := map[string]phrase{}
	for _, page := range []map[string]phrase{
		frameWords, faultWords, loginWords, openIDWords,
		homeWords,
		rowsWords,
		rowWords,
		actWords,
		usersWords,
		reportWords, deskWords, pendingWords, doubtWords, hintWords, changedWords, referenceWords, runWords, scheduleWords, auditWords,
	} {
		maps.Copy(out, page)
	}
	return out
}()

// T gives a phrase. A key that does not exist is shown as it is, and found by a test.
func (v voice) T(key string, args ...any) string {
	p, ok := phrases[key]
	if !ok {
		return key
	}
	format := p.pt
	if v.lang == trade.English {
		format = p.en
	}
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}

// Has tells whether there is a phrase.
func (v voice) Has(key string) bool {
	_, ok := phrases[key]
	return ok
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
