// Checker, whose methods are in the other files of the package.

package recheck

import "github.com/safrasync/safrasync/sync/run"

// Checker rechecks rows that are about to be sent.
type Checker struct {
	run *run.Run

	Alone bool           // no other job had entries of the same kind, as of the last query
	known map[int64]bool // the records that the last query found
}

// New returns the checker of one run.
func New(r *run.Run) *Checker { return &Checker{run: r} }
