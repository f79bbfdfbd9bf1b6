package pages

import (
	"time"

	"github.com/safrasync/safrasync/console/web"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// Hints are what is known of a row beyond the answers to its own requests. They prove nothing.
type Hints struct {
	Heard      []trade.Heard // of its record, its producer, its farm or its contract, the newest first
	Doubtful   bool          // the row is in doubt: the rest is filled in
	Readable   bool          // the platform tells of records of its kind, and lets them be read back
	Listening  bool          // webhooks are registered, or events came
	Events     int           // that came since the request in doubt
	Own        int           // of these, of order commitments
	Records    []Suggestion  // what the row may be, the nearest first
	Several    bool          // more than one record has all that was sent
	Compared   int           // with how many records the row was compared, where there are more; 0: with all
	Unreadable []string      // ids of records of which events told, and that could not be read
}

// None tells whether there is nothing to show.
func (h Hints) None() bool { return len(h.Heard) == 0 && !h.Doubtful }

// Suggestion is a record of which an event told, that was read back, and that a row in doubt may
// be. A person decides.
type Suggestion struct {
	ID      string
	Event   string
	At      time.Time // when an event told of it first
	Attempt int       // number of the attempt that it was compared with
	Full    bool      // everything that was sent is the same
	Fits    bool      // it was certainly made while the request could be executed
	Same    int
	Differ  int
	Unseen  int // fields that were sent and that the platform does not show
	Fields  []engine.FieldReading
}

// hintsView is what the pages show of hints: Decide offers the ids.
type hintsView struct {
	Hints
	ID     int64 // of the row
	Decide bool
}

// hintsOf reads what is known of a row beside its own requests.
func hintsOf(q *web.Request, doubts Doubts, entry trade.Entry, attempts []trade.Attempt) (hintsView, error) {
	hints, err := doubts.Hints(q.Context(), entry, attempts)
	open := entry.State == trade.InDoubt || entry.State == trade.Held
	return hintsView{Hints: hints, ID: entry.ID, Decide: open && q.May(trade.Accountant)}, err
}
