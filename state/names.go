package state

import (
	"github.com/safrasync/safrasync/state/sqldb"
)

// Types of package sqldb that callers need.
type (
	// OpenOptions state which ledger to open, and how.
	OpenOptions = sqldb.OpenOptions
	// Error is an error about the ledger, for the people in IT.
	Error = sqldb.Error
)

// The values of Options.Driver.
const (
	SQLite   = sqldb.SQLite
	Postgres = sqldb.Postgres
)

// The codes of an Error on which callers act. Package sqldb has all codes.
const (
	CodeConfig      = sqldb.CodeConfig
	CodeEmptied     = sqldb.CodeEmptied
	CodeLocked      = sqldb.CodeLocked
	CodeOlder       = sqldb.CodeOlder
	CodeOldCopy     = sqldb.CodeOldCopy
	CodeRolledBack  = sqldb.CodeRolledBack
	CodeServer      = sqldb.CodeServer
	CodeUnreachable = sqldb.CodeUnreachable
)

// Errors that callers compare with, and other names that they need.
var (
	ErrNoLedger = sqldb.ErrNoLedger
	Self        = sqldb.Self
)
