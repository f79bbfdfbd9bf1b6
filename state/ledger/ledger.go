// The type of the package.

package ledger

import (
	"github.com/safrasync/safrasync/state/jobs"
	"github.com/safrasync/safrasync/state/sqldb"
)

// Ledger keeps entries and their attempts. Its methods may be called by several goroutines at once.
type Ledger struct {
	db     *sqldb.DB
	jobs   *jobs.Roster
	marked Marks // notes of requests that have left
}

// New returns the ledger in a database.
func New(db *sqldb.DB, jobs *jobs.Roster) *Ledger { return &Ledger{db: db, jobs: jobs} }
