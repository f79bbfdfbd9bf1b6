package pages

import (
	"slices"
	"strings"

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
	veil
	This trade.Entry
	Off  []besideField
	Even []besideField
	Read bool // the platform showed what it has of the counterpart
}

// veil masks documents, unless they are revealed.
type veil struct{ Revealed bool }

// Hide masks the documents in a text, unless they are revealed.
func (v veil) Hide(text string) string {
	if v.Revealed {
		return text
	}
	return view.Mask(text)
}

// Sent reports whether the counterpart was sent.
func (b *beside) Sent() bool { return b.ID != "" || b.Entry.State.Created() }

// masked reports whether something is masked that may be revealed.
func (b *beside) masked() bool {
	hidden := func(value *string) bool { return value != nil && b.Hide(*value) != *value }
	return b != nil && slices.ContainsFunc(slices.Concat(b.Off, b.Even), func(f besideField) bool {
		return hidden(f.This) || hidden(f.Theirs) || hidden(f.There)
	})
}

// besideField is one field of the two, and of the platform's record of the counterpart. What is not
// known is nil.
type besideField struct {
	Name                string
	This, Theirs, There *string
	ThisCode, TheirCode string // of the ERP, with its label, if the value is an id
	Apart               bool   // the platform does not have what was sent
}

// besideOf compares a held row with its counterpart, by what would be sent and what was; nil if
// there is none.
func (p *Pages) besideOf(q *web.Request, e trade.Entry, c *acts.Counterpart) (*beside, error) {
	if c == nil {
		return nil, nil //nolint:nilnil // there is none
	}
	out := &beside{Counterpart: c, This: e}
	if c.Entry.ID == 0 {
		return out, nil
	}
	both, err := p.office.FieldsOf(q.Context(), []trade.Entry{e, c.Entry})
	if err != nil {
		return nil, err
	}
	for _, this := range both[0].Fields {
		if this.Name == "" || this.Secret {
			continue
		}
		field := besideField{Name: this.Name, This: this.Sent, ThisCode: codeOf(this)}
		for _, f := range both[1].Fields {
			if f.Name == this.Name {
				field.Theirs, field.There, field.Apart, field.TheirCode = f.Sent, f.There, f.Apart, codeOf(f)
			}
		}
		out.Read = out.Read || field.There != nil
		switch {
		case field.This == nil && field.Theirs == nil && field.There == nil:
		case field.This != nil && field.Theirs != nil && *field.This == *field.Theirs && !field.Apart:
			out.Even = append(out.Even, field)
		default:
			out.Off = append(out.Off, field)
		}
	}
	return out, nil
}

// codeOf returns the ERP's code of a field whose value is an id of the platform, after its label.
func codeOf(f office.Field) string { return strings.TrimSpace(f.Code.Label + " " + f.Code.Code) }

// rowContext is what pages show with a row.
type rowContext struct {
	Hints  office.Hints
	Asked  []request // acts on it that wait for consent
	Beside *beside   // beside the row that it was compared with; nil: none
}

// rowContextOf reads what is known of a row, and its fields.
func (p *Pages) rowContextOf(q *web.Request, e trade.Entry, attempts []trade.Attempt) (out rowContext, of office.Sides,
	err error,
) {
	out.Hints, err = p.office.Hints(q.Context(), e, attempts)
	if err != nil {
		return out, of, err
	}
	out.Asked, err = p.askedFor(q, e.Job, e.Key)
	if err != nil {
		return out, of, err
	}
	other, err := p.office.Doubt(q.Context(), e)
	if err != nil {
		return out, of, err
	}
	out.Beside, err = p.besideOf(q, e, other.Other)
	if err != nil {
		return out, of, err
	}
	of, err = p.office.Fields(q.Context(), e)
	return out, of, err
}

// knownOf returns what is known to exist of the row of a step, with documents masked.
func (p *Pages) knownOf(step acts.RowStep, lang trade.Lang) []string {
	return trade.Map(p.office.Voice(lang).Known(step), view.Mask)
}
