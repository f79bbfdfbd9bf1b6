// Which rows a run may send, and how many.

package sending

import "github.com/safrasync/safrasync/trade"

// RowLimit counts the rows that a run has sent, and decides which rows it may send. A row whose
// request was refused only for the moment, as with 429, is sent again and counts once.
type RowLimit struct {
	keys  map[string]bool // the only ones that may be sent; nil: any
	most  int             // most rows; 0: no limit
	Rows  int             // rows that were sent
	again map[int64]bool  // entries that were sent and became pending again
}

// NewRowLimit returns a limit: keys are the only ones that may be sent, nil means any; most is how
// many rows may be, 0 means no limit.
func NewRowLimit(keys []string, most int) *RowLimit {
	n := &RowLimit{most: most, again: map[int64]bool{}}
	if keys != nil {
		n.keys = map[string]bool{}
		for _, key := range keys {
			n.keys[key] = true
		}
	}
	return n
}

// reached reports whether no row may be sent but those that were and became pending again.
func (n *RowLimit) reached() bool { return n.most > 0 && n.Rows >= n.most }

// allows reports whether a row may be sent in addition to chosen ones, which are not counted yet.
func (n *RowLimit) allows(e trade.Entry, chosen []*flight) bool {
	if n.most == 0 || n.again[e.ID] {
		return true
	}
	fresh := 0
	for _, f := range chosen {
		if !n.again[f.Entry.ID] {
			fresh++
		}
	}
	return n.Rows+fresh < n.most
}
