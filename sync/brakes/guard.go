// The type of the package.

package brakes

import (
	"github.com/safrasync/safrasync/sync/recheck"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Guard judges what a reading found before anything of it leaves, and counts what goes under a
// release or under a mapping that nobody has confirmed.
type Guard struct {
	run     *run.Run
	recheck *recheck.Checker

	Room     trade.Freight  // what this run may send, with `most:`
	Released *trade.Freight // what a person has let it send beyond that
	Trial    *trade.Canary  // what went under a mapping that nobody has confirmed; nil when the mapping is confirmed
}

// New makes the guard of one run.
func New(r *run.Run, c *recheck.Checker) *Guard { return &Guard{run: r, recheck: c} }
