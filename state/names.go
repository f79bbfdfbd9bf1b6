package state

import (
	"github.com/safrasync/safrasync/state/audit"
	"github.com/safrasync/safrasync/state/people"
	"github.com/safrasync/safrasync/state/readmodel"
	"github.com/safrasync/safrasync/state/recovery"
	"github.com/safrasync/safrasync/state/refs"
	"github.com/safrasync/safrasync/state/retention"
	"github.com/safrasync/safrasync/state/sqldb"
)

// What callers need of the packages behind a Store.
type (
	// Options say which ledger to open.
	Options = sqldb.Options
	// Error is what a person in IT is told about the ledger.
	Error = sqldb.Error
	// Opening says what opening the ledger had to settle.
	Opening = recovery.Opening
	// RebuildPlan is what a rebuild would do, or did.
	RebuildPlan = recovery.RebuildPlan
	// Retention says how long what is kept.
	Retention = retention.Retention
	// RetentionPlan is what the retention takes away.
	RetentionPlan = retention.Plan
	// Retained is what one kind of data loses.
	Retained = retention.Retained
)

// The drivers that Options.Driver names.
const (
	SQLite   = sqldb.SQLite
	Postgres = sqldb.Postgres
)

// The codes of an Error that callers act on. All of them are in package sqldb.
const (
	CodeConfig     = sqldb.CodeConfig
	CodeEmptied    = sqldb.CodeEmptied
	CodeLocked     = sqldb.CodeLocked
	CodeOlder      = sqldb.CodeOlder
	CodeRolledBack = sqldb.CodeRolledBack
)

// The kinds of data that the retention takes away, and the names of its acts in the audit.
const (
	KeptBodies  = retention.KeptBodies
	KeptRuns    = retention.KeptRuns
	KeptLookups = retention.KeptLookups
	KeptInbox   = retention.KeptInbox
	KeptAudit   = retention.KeptAudit

	ActRetention = audit.ActRetention
	ActPurge     = audit.ActPurge

	// ServiceBeat is how often a `run` says that it is still there.
	ServiceBeat = people.ServiceBeat
)

// Errors that callers compare with, and names of this process and of what is kept.
var (
	ErrNotFound       = sqldb.ErrNotFound
	ErrNoLedger       = sqldb.ErrNoLedger
	ErrClosingDamaged = readmodel.ErrClosingDamaged
	RetentionKinds    = retention.RetentionKinds
	Self              = sqldb.Self
	// ChangesOf returns what a list of codes would change.
	ChangesOf = refs.ChangesOf
)
