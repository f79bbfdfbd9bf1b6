// The records of the platform, as a rebuild restores them from their images in the journal.

package recovery

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/ledger"
	"github.com/safrasync/safrasync/trade"
)

// origin identifies a record: the row under which it went, and the generation.
type origin struct {
	journal.Row
	sends      string
	generation int
}

func originOf(s journal.Sent) origin { return origin{s.Row, s.Sends, s.Generation} }

// record keeps the newest image of a record.
func (h *History) record(image journal.Sent) {
	if have, ok := h.records[originOf(image)]; !ok || image.Version >= have.Version {
		h.records[originOf(image)] = image
	}
}

// moveRecords gives the records of a job to another one. What was proved not to exist is dropped, as
// the move drops it.
func (h *History) moveRecords(m journal.Move) {
	for at, image := range h.records {
		if image.Owner != nil && image.Owner.Job == m.From {
			image.Owner = &journal.Row{Job: m.To, Key: image.Owner.Key}
			h.records[at] = image
		}
		if at.Job != m.From && at.Job != m.To {
			continue
		}
		if image.Certainty == string(trade.Void) {
			delete(h.records, at)
		} else if at.Job == m.From {
			delete(h.records, at)
			image.Job, image.Version = m.To, image.Version+1
			h.record(image)
		}
	}
}

// records brings the records up to the journal: the images first, then what the answers prove that
// only the journal has. It finds the record by which each accepted row is accepted.
func (r *Rebuilding) records(work []RebuiltRow) error {
	var ids []int64
	for _, e := range r.entries {
		ids = append(ids, e.ID)
	}
	slices.Sort(ids)
	have, err := ledger.LoadRecords(r.Tx, ids, r.Now)
	if err != nil {
		return err
	}
	for _, at := range slices.SortedFunc(maps.Keys(r.History.records), compareOrigins) {
		image := r.History.records[at]
		owner := image.Row
		if image.Owner != nil {
			owner = *image.Owner
		}
		if e := r.entries[owner]; e != nil {
			have.Restore(&e.NarrowRow, image, r.audit)
		}
	}
	for _, m := range r.History.Order {
		e := r.entries[m.Row]
		if e == nil {
			continue
		}
		for _, a := range m.attempts {
			have.Prove(&e.NarrowRow, a.Generation, trade.Outcome(a.Outcome), a.RemoteID)
		}
	}
	for i, row := range work {
		if row.to == trade.Accepted {
			work[i].on = have.Accepts(&row.entry.NarrowRow, row.RemoteID, row.MovedID)
			if work[i].on == nil {
				return fmt.Errorf("row %s of job %s was sent, and the journal lacks its record", row.Key, row.Job)
			}
		}
	}
	_, err = have.Store() // the journal has them
	return err
}

func compareOrigins(a, b origin) int {
	return cmp.Or(strings.Compare(a.Job, b.Job), strings.Compare(a.Key, b.Key), strings.Compare(a.sends, b.sends),
		cmp.Compare(a.generation, b.generation))
}
