package audit

import "github.com/safrasync/safrasync/state/sqldb"

// Trail is the audit of a ledger.
type Trail struct{ db *sqldb.DB }

// New returns the audit of a ledger.
func New(db *sqldb.DB) *Trail { return &Trail{db: db} }
