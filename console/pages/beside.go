package pages

import (
	"slices"

	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// ask is what a person must find out to decide about a row: a part of the keys of phrases.
type ask string

// The questions.
const (
	askNothing  ask = ""
	askPlatform ask = "platform" // is it on the platform?
	askSame     ask = "same"     // is it the document that was sent under another key?
	askTwin     ask = "twin"     // are the two equal rows two documents?
	askERP      ask = "erp"      // nothing here: the ERP has to be corrected, or the row comes back
)

// askOf returns the question about a row. An earlier request in doubt comes before everything else.
func askOf(e trade.Entry, attempts []trade.Attempt) ask {
	switch {
	case e.State == trade.InDoubt:
		return askPlatform
	case e.State != trade.Held:
		return askNothing
	case slices.ContainsFunc(attempts, trade.Attempt.Undecided):
		return askPlatform
	}
	switch e.Cause {
	case trade.CauseRetyped, trade.CauseOtherJob:
		return askSame
	case trade.CauseTwin:
		return askTwin
	case trade.CauseDuplicateKey, trade.CauseVanished:
		return askERP
	}
	return askPlatform
}

// doublesOf returns what a person must declare before a row goes that may be made twice, as a part of
// a phrase's key.
func doublesOf(question ask) string {
	if question == askSame || question == askTwin {
		return "two"
	}
	return "absent"
}

// beside is a held row side by side with the one that it was compared with.
type beside struct {
	*acts.Counterpart
	This trade.Entry
	Off  []besideField
	Same int // fields with equal values
}

// besideField is a field that differs between the two.
type besideField struct {
	Name         string
	This, Theirs *string
}

// besideOf compares a held row with its counterpart, by what would be sent and what was; nil if
// there is none.
func besideOf(q *web.Request, o *office.Office, e trade.Entry, c *acts.Counterpart) (*beside, error) {
	if c == nil {
		return nil, nil //nolint:nilnil // there is none
	}
	out := &beside{Counterpart: c, This: e}
	if c.Entry.ID == 0 {
		return out, nil
	}
	both, err := o.FieldsOf(q.Context(), []trade.Entry{e, c.Entry})
	if err != nil {
		return nil, err
	}
	for _, this := range both[0].Fields {
		if this.Name == "" || this.Secret {
			continue
		}
		var theirs *string
		for _, f := range both[1].Fields {
			if f.Name == this.Name {
				theirs = f.Sent
			}
		}
		switch {
		case this.Sent == nil && theirs == nil:
		case this.Sent != nil && theirs != nil && *this.Sent == *theirs:
			out.Same++
		default:
			out.Off = append(out.Off, besideField{this.Name, this.Sent, theirs})
		}
	}
	return out, nil
}

// knownOf returns what is known to exist of the row of a step, with documents masked.
func knownOf(o *office.Office, step acts.RowStep, lang trade.Lang) []string {
	known := o.Known(step, lang)
	for i := range known {
		known[i] = view.Mask(known[i])
	}
	return known
}
