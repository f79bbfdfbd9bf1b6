package retention

import (
	"github.com/safrasync/safrasync/state/audit"
	"github.com/safrasync/safrasync/state/sqldb"
)

// Reducer takes away what is old.
type Reducer struct {
	db    *sqldb.DB
	trail *audit.Trail
}

// New returns the Reducer of a ledger.
func New(db *sqldb.DB, trail *audit.Trail) *Reducer { return &Reducer{db: db, trail: trail} }
