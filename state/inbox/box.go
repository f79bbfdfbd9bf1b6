package inbox

import (
	"github.com/safrasync/safrasync/state/discovery"
	"github.com/safrasync/safrasync/state/jobs"
	"github.com/safrasync/safrasync/state/ledger"
	"github.com/safrasync/safrasync/state/sqldb"
)

// Mailbox keeps what the platform told by events.
type Mailbox struct {
	db        *sqldb.DB
	ledger    *ledger.Ledger
	roster    *jobs.Roster
	discovery *discovery.Discovery
}

// New returns the Mailbox of a ledger.
func New(db *sqldb.DB, ledger *ledger.Ledger, roster *jobs.Roster, discovery *discovery.Discovery) *Mailbox {
	return &Mailbox{db: db, ledger: ledger, roster: roster, discovery: discovery}
}
