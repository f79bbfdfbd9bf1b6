// Guard, whose methods are in the other files of the package.

package brakes

import (
	"github.com/safrasync/safrasync/sync/recheck"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Guard judges the result of a reading before anything is sent, and counts what goes under a
// release or under an unconfirmed mapping.
type Guard struct {
	run     *run.Run
	recheck *recheck.Checker

	Room     trade.Freight  // what this run may send, under `most:`
	Released *trade.Freight // what a person has released beyond `most:`
	Trial    *trade.Canary  // what went under an unconfirmed mapping; nil if it is confirmed
}

// New returns the guard of one run.
func New(r *run.Run, c *recheck.Checker) *Guard { return &Guard{run: r, recheck: c} }
