package readmodel

import (
	"sync/atomic"

	"github.com/safrasync/safrasync/state/discovery"
	"github.com/safrasync/safrasync/state/jobs"

	"github.com/safrasync/safrasync/state/ledger"
	"github.com/safrasync/safrasync/state/refs"
	"github.com/safrasync/safrasync/state/sqldb"
)

// Reader answers the queries of people. It writes only closings of reports, and the search index.
type Reader struct {
	db        *sqldb.DB
	ledger    *ledger.Ledger
	roster    *jobs.Roster
	discovery *discovery.Discovery
	refs      *refs.Tables
	Kept      atomic.Pointer[KnownShortages]
}

// New returns the Reader of a ledger.
func New(db *sqldb.DB, ledger *ledger.Ledger, roster *jobs.Roster, discovery *discovery.Discovery,
	refs *refs.Tables,
) *Reader {
	return &Reader{db: db, ledger: ledger, roster: roster, discovery: discovery, refs: refs}
}
