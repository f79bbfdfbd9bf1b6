// Rows that only a sweep found, although a window should have shown them (I5).

package discovery

import (
	"slices"
	"time"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// lateSamples is how many keys of late rows are listed.
const lateSamples = 5

// countLate counts a row that a sweep found new or changed and that no window would have shown
// (I5), because its time of change is before everything that windows read. Rows without a time are
// in every window and never late.
func (r *Discoverer) countLate(row *mapping.Row) {
	if row.Late == 0 {
		return
	}
	if r.Report.Late == nil {
		r.Report.Late = &trade.Late{Samples: []string{}}
	}
	l := r.Report.Late
	l.Rows++
	l.Largest = max(l.Largest, int64(row.Late/time.Second))
	if len(l.Samples) < lateSamples && !slices.Contains(l.Samples, row.Key) {
		l.Samples = append(l.Samples, row.Key)
	}
}
