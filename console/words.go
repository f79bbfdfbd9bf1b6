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

// titlesOf returns what a person is shown instead of the names of jobs.
func titlesOf(q *request) trade.Titles {
	var jobs []trade.TitledJob
	for _, j := range q.c.Work.Jobs() {
		jobs = append(jobs, trade.TitledJob{Job: j.Name, Sends: j.Sends, Title: j.Title})
	}
	return trade.TitlesOf(jobs, q.lang)
}

// Title is what people are shown instead of the name of a job.
func (f frame) Title(job string) string { return f.Titles.Of(job) }

// Lead is what people are shown of a row, documents masked; its key where that is nothing.
func (f frame) Lead(e trade.Entry) string { return e.Shown.Masked().Lead(maskText(e.Key)) }

// Beneath is the key of a row that something else leads; "" where the key leads.
func (f frame) Beneath(e trade.Entry) string {
	if e.Shown.Line() == "" {
		return ""
	}
	return maskText(e.Key)
}
