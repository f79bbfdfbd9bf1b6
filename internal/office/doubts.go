package office

import (
	"context"
	"slices"
	"time"

	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// Doubt is what is known of a row that may be on the platform.
type Doubt struct {
	acts.Doubt
	Sent   map[string]*string // what was sent, or would be, by field
	Phase  string             // how far the last request got; "" = not recorded
	Since  time.Time          // when that was sent; without one since when the row is as it is
	Other  *acts.Counterpart  // what the row was compared with; nil: nothing is known
	Known  bool               // it is known what was sent of both, or would be
	Differ []string           // the fields in which the two differ then, of those that go to the platform
	Same   bool               // it may be the record of a key that is gone, and differs in none of them
}

// Doubt returns what is known of a row that may be on the platform.
func (o *Office) Doubt(ctx context.Context, entry trade.Entry) (out Doubt, err error) {
	out.Doubt, err = o.acts().Doubt(ctx, entry)
	if err != nil {
		return out, err
	}
	out.Since = entry.UpdatedAt
	for _, a := range out.Attempts {
		out.Phase, out.Since = phaseOf(a), a.StartedAt
	}
	out.Sent = mapping.SentTexts(entry)
	out.Other, err = o.acts().Counterpart(ctx, entry)
	if err != nil || out.Other == nil || out.Other.Entry.ID == 0 {
		return out, err
	}
	other := mapping.SentTexts(out.Other.Entry)
	out.Known = len(out.Sent) > 0 && len(other) > 0
	if !out.Known {
		return out, nil
	}
	for _, rule := range trade.Rules(entry.Sends) {
		a, b := out.Sent[rule.Field], other[rule.Field]
		if (a == nil) != (b == nil) || a != nil && !rule.Same(*a, *b) {
			out.Differ = append(out.Differ, rule.Field)
		}
	}
	out.Same = len(out.Differ) == 0 && out.Other.ID != "" && out.Other.Entry.RemoteID == out.Other.ID &&
		slices.Contains([]string{trade.CauseRetyped, trade.CauseOtherJob}, entry.Cause)
	return out, nil
}
