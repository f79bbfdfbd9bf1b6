package books

import "github.com/safrasync/safrasync/state/sqldb"

// Books reads and writes the books of a ledger.
type Books struct{ db *sqldb.DB }

// New returns the books of a ledger that is open.
func New(db *sqldb.DB) *Books { return &Books{db} }
