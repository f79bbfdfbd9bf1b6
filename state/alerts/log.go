package alerts

import (
	"github.com/safrasync/safrasync/state/sqldb"
)

// Log keeps alerts and their messages.
type Log struct {
	db *sqldb.DB
}

// New returns the Log of a ledger.
func New(db *sqldb.DB) *Log { return &Log{db: db} }
