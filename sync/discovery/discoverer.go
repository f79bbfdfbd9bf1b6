// The type of the package.

package discovery

import (
	"github.com/safrasync/safrasync/sync/brakes"
	"github.com/safrasync/safrasync/sync/recheck"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Discoverer reads the ERP for one run and records what is news.
type Discoverer struct {
	Run     *run.Run
	Recheck *recheck.Checker
	Brakes  *brakes.Guard

	// the kept sums at the beginning of a sweep, where they were those of the entries; nil: not
	// proved
	Proved   []trade.Tally
	differ   map[int64]before        // rows that were sent and have changed in this reading, by number
	reworded []reworded              // rows that are held as typed again and have another content now
	lookups  map[string]trade.Lookup // what the platform answered to questions by document, by code
}

// New makes the discoverer of one run, with the recheck and the brakes that go with it.
func New(r *run.Run) *Discoverer {
	c := recheck.New(r)
	return &Discoverer{Run: r, Recheck: c, Brakes: brakes.New(r, c)}
}
