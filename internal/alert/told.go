package alert

import (
	"time"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/trade"
)

// Rendered is an alert in words.
type Rendered struct {
	Title, Happened, Means, Do string

	Record int64 // of the audit, that Happened names; 0 = none
}

// Render returns an alert of the ledger in a reader's language.
func Render(a trade.Alert, lang trade.Lang, zone *time.Location, titles trade.Titles) (out Rendered, err error) {
	var d Detail
	if err := unmarshalDetail(a, &d); err != nil {
		return out, err
	}
	v := voice{lang: lang, zone: zone, titles: titles}
	out.Record = d.Record
	tense := i18n.Key(".happened")
	if !a.ClosedAt.IsZero() {
		tense = ".was"
	}
	out.Title, out.Happened, out.Means, out.Do = v.sentences(Topic(a.Topic), d, tense)
	return out, nil
}

// States returns the states of the rows that an alert of the ledger counts; nil: it counts none.
func States(a trade.Alert) []trade.State {
	if Topic(a.Topic) == InDoubt {
		return []trade.State{trade.InDoubt}
	}
	return rowStates[Topic(a.Topic)]
}
