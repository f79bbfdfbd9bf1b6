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

// comparison is a held row side by side with the one that it was compared with.
type comparison struct {
	*acts.Counterpart
	This   trade.Entry
	Off    []comparedField
	Even   []comparedField
	Read   bool // the platform showed what it has of the counterpart
	Masked bool // something is masked
}

// comparedField is one field of the two. Other is the zero value if the counterpart does not have it.
type comparedField struct{ This, Other office.Field }

// veil masks documents, unless they are revealed.
type veil struct{ Revealed bool }

// Hide masks the documents in a text, unless they are revealed.
func (v veil) Hide(text string) string {
	if v.Revealed {
		return text
	}
	return view.Mask(text)
}

// hide masks the documents in a field, unless they are revealed, and reports whether it has some.
func (v veil) hide(f *office.Field) (masked bool) {
	if v.Revealed {
		return false
	}
	f.Hide(func(name, text string) string {
		hidden := trade.MaskColumn(name, text)
		masked = masked || hidden != text
		return hidden
	})
	return masked
}

// reasonOf returns why a row is as it is; "" if its flags say it.
func (p *Pages) reasonOf(q *web.Request, e trade.Entry, by veil) string {
	reason := p.office.Voice(q.Lang).Reason(e)
	flags := trade.Map(e.Flags, q.Voice().Flag)
	other := func(part string) bool { return !slices.Contains(flags, part) }
	if !slices.ContainsFunc(strings.Split(reason, "; "), other) {
		return ""
	}
	return by.Hide(trade.NameBlanks(reason, q.Lang))
}

// comparisonOf compares a held row with its counterpart, by what would be sent and what was; nil if
// there is none.
func (p *Pages) comparisonOf(q *web.Request, e trade.Entry, c *acts.Counterpart, by veil) (*comparison, error) {
	if c == nil {
		return nil, nil //nolint:nilnil // there is none
	}
	out := &comparison{Counterpart: c, This: e}
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
		pair := comparedField{This: this}
		for _, f := range both[1].Fields {
			if f.Name == this.Name {
				pair.Other = f
			}
		}
		a, b, there := this.Sent, pair.Other.Sent, pair.Other.There
		out.Read = out.Read || there != nil
		masked := by.hide(&pair.This)
		out.Masked = by.hide(&pair.Other) || masked || out.Masked
		switch {
		case a == nil && b == nil && there == nil:
		case a != nil && b != nil && *a == *b && !pair.Other.Apart:
			out.Even = append(out.Even, pair)
		default:
			out.Off = append(out.Off, pair)
		}
	}
	return out, nil
}

// rowContext is what the page of a row and its desk show alike.
type rowContext struct {
	Entry  trade.Entry
	Doubt  office.Doubt
	What   string // a sentence about what was sent, or would be
	Reason string
	Hints  office.Hints
	Asked  []request   // acts on it that wait for consent
	Beside *comparison // beside the row that it was compared with; nil: none
	Sides  office.Sides
	Off    []office.Field // those with a problem, or of which the sides differ
	Even   []office.Field
	Masked bool // something is masked that may be revealed
	veil
}

// rowContextOf reads what is known of a row.
func (p *Pages) rowContextOf(q *web.Request, e trade.Entry, revealed bool) (out rowContext, err error) {
	out.Entry, out.Revealed = e, revealed
	out.Reason = p.reasonOf(q, e, out.veil)
	out.Doubt, err = p.office.Doubt(q.Context(), e)
	if err != nil {
		return out, err
	}
	out.Hints, err = p.office.Hints(q.Context(), e, out.Doubt.Attempts)
	if err != nil {
		return out, err
	}
	out.Asked, err = p.askedFor(q, e.Job, e.Key)
	if err != nil {
		return out, err
	}
	for i := range out.Asked {
		out.Asked[i].Doubles = out.Asked[i].Act == acts.ActResend && out.Hints.Full() > 0
	}
	out.Beside, err = p.comparisonOf(q, e, out.Doubt.Other, out.veil)
	if err != nil {
		return out, err
	}
	out.Sides, err = p.office.Fields(q.Context(), e)
	out.Masked = !revealed && e.Shown.Masked().Line() != e.Shown.Line() || out.Beside != nil && out.Beside.Masked
	for i := range out.Sides.Fields {
		f := &out.Sides.Fields[i]
		out.Masked = out.hide(f) || out.Masked
		if f.Problem != nil || f.Differs || f.Apart {
			out.Off = append(out.Off, *f)
		} else {
			out.Even = append(out.Even, *f)
		}
	}
	out.What = out.Hide(sentence(q.Voice(), e, office.AskedQuantity(e), out.Sides.Fields, office.Field.Asked))
	return out, err
}
