// The ERP at the moment of a closing.

package reconcile

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// ERPNow is what a reading of the whole ERP that recorded nothing found.
type ERPNow struct {
	At   time.Time `json:"at"`   // of the reading
	Jobs []ERPJob  `json:"jobs"` // those that differ from the ledger or could not be read
	// the rows that a pass would add or change, as it would leave them
	Found map[trade.ParentKey]trade.Entry `json:"-"`
}

// Add takes up a row as a pass would leave it. One that the last look holds back comes again: of it
// only the state is new.
func (n *ERPNow) Add(e trade.Entry) {
	at := trade.ParentKey{Job: e.Job, Key: e.Key}
	if was, again := n.Found[at]; again {
		was.TakeState(e)
		e = was
	}
	n.Found[at] = e
}

// ERPJob is what the ERP has of a job other than the ledger, in documents up to the day of the
// closing.
type ERPJob struct {
	Job       string         `json:"job"`
	Unread    trade.Sentence `json:"unread,omitzero"` // why the job could not be read to its end
	New       int            `json:"new,omitempty"`
	Changed   int            `json:"changed,omitempty"`
	Gone      int            `json:"gone,omitempty"`     // or cancelled
	Kilograms trade.Decimal  `json:"kilograms,omitzero"` // what the ERP has more
}

// Differ returns the jobs that differ from the ledger or could not be read.
func (n *ERPNow) Differ() []ERPJob {
	if n == nil {
		return nil
	}
	return n.Jobs
}

// compare fills in what differs from the ledger.
func (n *ERPNow) compare(ctx context.Context, t *taker) error {
	found := slices.Collect(maps.Values(n.Found))
	list, err := t.Ledger.Entries(ctx, trade.Map(found, func(e trade.Entry) int64 { return e.ID }))
	if err != nil {
		return err
	}
	before := map[int64]trade.Entry{}
	for _, e := range list {
		before[e.ID] = e
	}
	for key, now := range n.Found {
		old, known := before[now.ID]
		i := slices.IndexFunc(n.Jobs, func(j ERPJob) bool { return j.Job == now.Job })
		j := &n.Jobs[i]
		was := known && t.counts(old) && !t.renumbered[key]
		stands := t.counts(now)
		var had, has trade.Decimal
		if was {
			had, _ = old.Quantity.Kilograms()
		}
		if stands {
			has, _ = now.Quantity.Kilograms()
		}
		switch {
		case stands && !was:
			j.New++
		case was && !stands:
			j.Gone++
		case was && !reflect.DeepEqual(old.NewestValues(), now.NewestValues()):
			j.Changed++
		default:
			continue
		}
		j.Kilograms = j.Kilograms.Add(has).Sub(had)
	}
	n.Jobs = slices.DeleteFunc(n.Jobs, func(j ERPJob) bool {
		return j.Unread.Code == "" && j.New+j.Changed+j.Gone == 0
	})
	return nil
}

// counts reports whether the ERP has a document of the closing in an entry.
func (t *taker) counts(e trade.Entry) bool {
	return e.GoneSweeps == 0 && !e.GoneFromERP() && (e.Facts.Day.IsZero() || e.Facts.Day.String() <= t.day)
}
