package people

import (
	"github.com/safrasync/safrasync/state/sqldb"
)

// Directory keeps who may use the console, and what they have saved.
type Directory struct {
	db *sqldb.DB
}

// New returns the Directory of a ledger.
func New(db *sqldb.DB) *Directory { return &Directory{db: db} }
