package refs

import (
	"github.com/safrasync/safrasync/state/ledger"
	"github.com/safrasync/safrasync/state/sqldb"
)

// Tables keeps the de-para tables, and what the platform answered to questions by document.
type Tables struct {
	db     *sqldb.DB
	ledger *ledger.Ledger
}

// New returns the Tables of a ledger.
func New(db *sqldb.DB, ledger *ledger.Ledger) *Tables { return &Tables{db: db, ledger: ledger} }
