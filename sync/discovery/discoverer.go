// Discoverer, whose methods are in the other files of the package.

package discovery

import (
	"github.com/safrasync/safrasync/sync/brakes"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/sync/sending"
	"github.com/safrasync/safrasync/trade"
)

// Discoverer reads the ERP for one run and records what is new.
type Discoverer struct {
	*run.Run
	Recheck *sending.Checker
	Brakes  *brakes.Guard

	// rows that were sent and have changed in this reading, by entry id
	differ  map[int64]before
	lookups map[string]trade.Lookup // the platform's answers to lookups by document, by code
	tables  tables

	// deliveries that are no living documents, whose products list sets
	deliveries map[string]*deliverySums
}

// New returns the discoverer of one run, with its recheck and brakes.
func New(r *run.Run) *Discoverer {
	c := sending.NewChecker(r)
	return &Discoverer{
		Run: r, Recheck: c, Brakes: brakes.New(r, c), differ: map[int64]before{},
		deliveries: map[string]*deliverySums{},
	}
}
