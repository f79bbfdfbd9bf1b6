// Differences between the ERP, what was sent, and the platform.

package reconcile

import (
	"strings"

	"github.com/safrasync/safrasync/trade"
)

// Divergence is one difference that exceeds the tolerance, or one that no tolerance allows.
type Divergence struct {
	Kind DivergenceKind
	Here *trade.Decimal // what the ERP has, or what was contracted
	Then *trade.Decimal // what was sent, what the platform has, or what was delivered
	Unit string         // kg, or a currency
	Note string         // what numbers cannot express: two currencies

	Acknowledged bool // a person has acknowledged it
}

// Difference is Here minus Then; nil if one of them is unknown.
func (d Divergence) Difference() *trade.Decimal {
	if d.Here == nil || d.Then == nil {
		return nil
	}
	diff := d.Here.Sub(*d.Then)
	return &diff
}

// DivergenceKind is what differs.
type DivergenceKind string

// The kinds of divergences.
const (
	VolumeDiffers   DivergenceKind = "volume"   // the ERP now differs from what was sent
	ValueDiffers    DivergenceKind = "value"    // the same
	CurrencyDiffers DivergenceKind = "currency" // the same
	OtherDiffers    DivergenceKind = "other"    // another field, with the same weight and value
	// on the platform, but gone from the ERP or cancelled there
	LeftERP          DivergenceKind = "left_erp"
	MayBeDouble      DivergenceKind = "double"            // the platform may have it twice
	Contradicts      DivergenceKind = "contradicted"      // an answer contradicts a decision
	DeletedThere     DivergenceKind = "deleted"           // the platform reported it deleted
	OverDelivered    DivergenceKind = "over_delivered"    // more than the contract and its tolerance
	PlatformVolume   DivergenceKind = "platform_volume"   // what was sent, and what the platform has
	PlatformValue    DivergenceKind = "platform_value"    // the same
	PlatformNotFound DivergenceKind = "platform_missing"  // the platform does not know the id
	PlatformUnread   DivergenceKind = "platform_no_proof" // the platform could not be read
)

// divergencesOf returns the divergences of one row, except over-delivery.
func divergencesOf(r *Row, t Tolerance) []Divergence {
	if r.Moved || r.After || r.State != trade.Accepted {
		return nil
	}
	var out []Divergence
	dealt := false
	add := func(kind DivergenceKind, here, then *trade.Decimal, unit, note string) {
		out = append(out, Divergence{kind, here, then, unit, note, dealt})
	}
	changed := r.Flags.Has(trade.Changed)
	gone := r.Flags.Has(trade.MissingInERP) || r.Flags.Has(trade.Cancelled)
	dealtGone := !gone && (r.Acknowledged.Has(trade.MissingInERP) || r.Acknowledged.Has(trade.Cancelled))
	dealt = !changed && r.Acknowledged.Has(trade.Changed)
	if r.Sent != nil && !r.Gone && !r.Renumbered && !gone && !dealtGone { // else LeftERP: all of it differs
		compare(r.ERP, *r.Sent, t, VolumeDiffers, ValueDiffers, add)
	}
	if (changed || dealt) && len(out) == 0 {
		add(OtherDiffers, nil, nil, "", "")
	}
	dealt = false
	for _, f := range []struct {
		flag trade.Flag
		kind DivergenceKind
	}{
		{trade.DoubleAfterDecision, MayBeDouble},
		{trade.Contradicted, Contradicts},
		{trade.DeletedRemote, DeletedThere},
	} {
		if r.Flags.Has(f.flag) {
			add(f.kind, nil, nil, "", "")
		}
	}
	dealt = dealtGone
	if gone || dealt {
		var sent Figures // none: its weight is unknown
		if r.Sent != nil {
			sent = *r.Sent
		}
		if kg, ok := sent.Kilograms(); ok {
			add(LeftERP, &trade.Decimal{}, &kg, "kg", "")
		} else {
			add(LeftERP, nil, nil, "", "")
		}
	}
	dealt = false
	if p := r.Platform; p != nil {
		switch {
		case p.Found && !p.Unread && r.Sent != nil:
			compare(*r.Sent, p.Figures, t, PlatformVolume, PlatformValue, add)
		case p.Fault == notFound:
			add(PlatformNotFound, nil, nil, "", "")
		default:
			add(PlatformUnread, nil, nil, "", p.Fault)
		}
	}
	return out
}

// compare adds a divergence for each figure that differs by more than the tolerance.
func compare(a, b Figures, t Tolerance, volume, value DivergenceKind,
	add func(DivergenceKind, *trade.Decimal, *trade.Decimal, string, string),
) {
	x, okX := a.Kilograms()
	y, okY := b.Kilograms()
	if okX && okY && beyond(x.Sub(y), t.Kilograms) {
		add(volume, &x, &y, "kg", "")
	}
	if a.Currency != "" && b.Currency != "" && !strings.EqualFold(a.Currency, b.Currency) {
		add(CurrencyDiffers, nil, nil, "", a.Currency+" → "+b.Currency)
		return
	}
	v, okV := a.Value()
	w, okW := b.Value()
	if okV && okW && beyond(v.Sub(w), t.Value) {
		add(value, &v, &w, a.Currency, "")
	}
}

// beyond reports whether a difference exceeds the tolerance, in either direction.
func beyond(difference, tolerated trade.Decimal) bool {
	return difference.Abs().Cmp(tolerated) > 0
}

// delivered is how many kilograms were delivered on each contract, by its job and key.
type delivered map[trade.ParentKey]trade.Decimal

// over returns the divergence of a contract, and whether more was delivered than its tolerance allows.
func (d delivered) over(r *Row, t Tolerance) (Divergence, bool) {
	sum, some := d[trade.ParentKey{Job: r.Job, Key: r.Key}]
	grain, ok := weight(r.ERP)
	if !some || !ok || r.Sends != trade.OrderCommitments || !contracted(r.OrderType) || !r.counts() ||
		r.State == trade.Dismissed || sum.Cmp(t.most(grain)) <= 0 {
		return Divergence{}, false
	}
	return Divergence{OverDelivered, &grain, &sum, "kg", "", false}, true
}
