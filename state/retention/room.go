package retention

import (
	"github.com/safrasync/safrasync/state/ledger"
	"github.com/safrasync/safrasync/state/sqldb"
)

// Reducer takes away what is old.
type Reducer struct {
	db     *sqldb.DB
	ledger *ledger.Ledger
}

// New returns the Reducer of a ledger.
func New(db *sqldb.DB, ledger *ledger.Ledger) *Reducer { return &Reducer{db: db, ledger: ledger} }
