package discovery

import (
	"github.com/safrasync/safrasync/state/ledger"
	"github.com/safrasync/safrasync/state/sqldb"
)

// Discovery stores what a reading of the ERP found, and answers what it asks.
type Discovery struct {
	db     *sqldb.DB
	ledger *ledger.Ledger
}

// New returns the Discovery of a ledger.
func New(db *sqldb.DB, ledger *ledger.Ledger) *Discovery { return &Discovery{db: db, ledger: ledger} }
