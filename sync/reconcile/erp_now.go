// The ERP at the moment of a closing.

package reconcile

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// ERPNow is what a reading of the whole ERP that recorded nothing found.
type ERPNow struct {
	At   time.Time `json:"at"`   // of the reading
	Jobs []ERPJob  `json:"jobs"` // those that differ from the ledger or could not be read
	// rows as a pass would leave them: the newest of each is the last one
	Found []trade.Entry `json:"-"`
}

// ERPJob is what the ERP has of a job other than the ledger, in documents up to the day of the closing.
type ERPJob struct {
	Job       string         `json:"job"`
	Unread    trade.Sentence `json:"unread,omitzero"` // why the job could not be read to its end
	New       int            `json:"new,omitempty"`
	Changed   int            `json:"changed,omitempty"`
	Gone      int            `json:"gone,omitempty"`     // or cancelled
	Kilograms trade.Decimal  `json:"kilograms,omitzero"` // what the ERP has more
}

// compare fills in what differs from the ledger.
func (n *ERPNow) compare(ctx context.Context, t *taker) error {
	newest := map[trade.ParentKey]trade.Entry{}
	for _, e := range n.Found {
		newest[trade.ParentKey{Job: e.Job, Key: e.Key}] = e
	}
	entries := make([]trade.Entry, 0, len(newest))
	for _, e := range newest {
		entries = append(entries, e)
	}
	for page := range slices.Chunk(entries, run.PageSize) {
		var ids []int64
		for _, e := range page {
			if e.ID > 0 {
				ids = append(ids, e.ID)
			}
		}
		list, err := t.Ledger.Entries(ctx, ids)
		if err != nil {
			return err
		}
		before := map[int64]trade.Entry{}
		for _, e := range list {
			before[e.ID] = e
		}
		for _, e := range page {
			old, known := before[e.ID]
			known = known && t.counts(old) && !t.renumbered[trade.ParentKey{Job: e.Job, Key: e.Key}]
			n.add(old, e, known, t.counts(e))
		}
	}
	n.Jobs = slices.DeleteFunc(n.Jobs, func(j ERPJob) bool {
		return j.Unread.Code == "" && j.New+j.Changed+j.Gone == 0
	})
	n.Found = nil
	return nil
}

// counts reports whether the ERP has a document of the closing in an entry.
func (t *taker) counts(e trade.Entry) bool {
	return e.GoneSweeps == 0 && !e.Away() && (t.day == "" || e.Facts.Day.IsZero() || e.Facts.Day.String() <= t.day)
}

// add counts the difference between an entry and the same row as it is read.
func (n *ERPNow) add(old, now trade.Entry, was, stands bool) {
	i := slices.IndexFunc(n.Jobs, func(j ERPJob) bool { return j.Job == now.Job })
	of := &n.Jobs[i]
	switch {
	case stands && !was:
		of.New++
	case was && !stands:
		of.Gone++
	case was && !reflect.DeepEqual(old.NewestValues(), now.NewestValues()):
		of.Changed++
	default:
		return
	}
	for _, part := range []struct {
		counts bool
		entry  trade.Entry
		by     func(trade.Decimal, trade.Decimal) trade.Decimal
	}{{stands, now, trade.Decimal.Add}, {was, old, trade.Decimal.Sub}} {
		if kg, ok := part.entry.Quantity.Kilograms(); ok && part.counts {
			of.Kilograms = part.by(of.Kilograms, kg)
		}
	}
}

// marked returns the differences without the reasons, whose texts may change from reading to reading.
func (n *ERPNow) marked() (out []ERPJob) {
	if n == nil {
		return nil
	}
	for _, j := range n.Jobs {
		j.Unread = trade.Say(cmp.Or(j.Unread.Code, "-"))
		out = append(out, j)
	}
	return out
}
