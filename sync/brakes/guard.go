// Guard, whose methods are in the other files of the package.

package brakes

import (
	"context"

	"github.com/safrasync/safrasync/sync/identity"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Judge asks package identity what rows are; see sending.Checker.
type Judge interface {
	Judge(ctx context.Context, entries, ahead, storing []trade.Entry,
		found map[string][]mapping.Row) ([]identity.Verdict, []identity.Candidate, error)
}

// Guard judges the result of a reading before anything is sent, and counts what goes under a
// release or under an unconfirmed mapping.
type Guard struct {
	*run.Run
	recheck Judge

	Room     trade.Freight  // what this run may send, under `most:`
	Released *trade.Freight // what a person has released beyond `most:`
	Trial    *trade.Canary  // what went under an unconfirmed mapping; nil if it is confirmed
}

// New returns the guard of one run.
func New(r *run.Run, c Judge) *Guard { return &Guard{Run: r, recheck: c} }
