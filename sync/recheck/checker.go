// The type of the package.

package recheck

import "github.com/safrasync/safrasync/sync/run"

// Checker looks once more at rows that are about to go.
type Checker struct {
	run *run.Run

	Alone bool // no other job has entries of the kind that it sends, when that was asked last
}

// New makes the checker of one run.
func New(r *run.Run) *Checker { return &Checker{run: r} }
