// Which rows a run may send, and how many.

package sending

import (
	"slices"

	"github.com/safrasync/safrasync/trade"
)

// RowLimit counts the rows that a run has sent, and says which may go in it. A row whose request
// was refused for the moment, as with 429, is sent again and counts once.
type RowLimit struct {
	keys  map[string]bool // the only ones that may go; nil: any
	most  int             // rows; 0: any number
	Rows  int             // that were sent
	again map[int64]bool  // entries that were sent and came back
}

// NewRowLimit makes one: keys are the only ones that may go, nil any; most is how many rows, 0 any
// number.
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

// over reports that no row may go any more.
func (n *RowLimit) over() bool { return n.most > 0 && n.Rows >= n.most && len(n.again) == 0 }

// allows reports whether a row may go beside others that were chosen and do not count yet.
func (n *RowLimit) allows(e trade.Entry, chosen []*inFlight) bool {
	if n.keys != nil && !n.keys[e.Key] {
		return false
	}
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

// left leaves of a batch what may go.
func (n *RowLimit) left(batch []trade.Entry) []trade.Entry {
	return slices.DeleteFunc(batch, func(e trade.Entry) bool { return !n.allows(e, nil) })
}

// begins counts a row whose POST is begun; recalled takes that back, because it certainly was not.
func (n *RowLimit) begins(id int64) {
	if !n.again[id] {
		n.Rows++
	}
}

func (n *RowLimit) recalled(id int64) {
	if !n.again[id] {
		n.Rows--
	}
}

// returned notes a row that was sent and is to be sent again.
func (n *RowLimit) returned(id int64) { n.again[id] = true }
