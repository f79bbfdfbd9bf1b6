package jobs

import "github.com/safrasync/safrasync/state/sqldb"

// Roster knows who reads and sends which job, and what the runs did.
type Roster struct{ db *sqldb.DB }

// New returns the Roster of a ledger.
func New(db *sqldb.DB) *Roster { return &Roster{db: db} }
