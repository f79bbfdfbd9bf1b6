package recovery

import (
	"github.com/safrasync/safrasync/state/ledger"
	"github.com/safrasync/safrasync/state/sqldb"
)

// Journals compares the ledger with its journals, and settles what a crash left between the two.
type Journals struct {
	db      *sqldb.DB
	ledger  *ledger.Ledger
	opening Opening
}

// New returns the Journals of a ledger.
func New(db *sqldb.DB, ledger *ledger.Ledger) *Journals { return &Journals{db: db, ledger: ledger} }
