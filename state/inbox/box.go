package inbox

import (
	"github.com/safrasync/safrasync/state/ledger"
	"github.com/safrasync/safrasync/state/sqldb"
)

// Mailbox keeps what the platform told by events.
type Mailbox struct {
	db     *sqldb.DB
	ledger *ledger.Ledger
}

// New returns the Mailbox of a ledger.
func New(db *sqldb.DB, ledger *ledger.Ledger) *Mailbox { return &Mailbox{db: db, ledger: ledger} }
