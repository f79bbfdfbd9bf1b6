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

// Types of the packages below that callers need.
type (
	// Options state which ledger to open, and how.
	Options = sqldb.Options
	// Error is an error about the ledger, for the people in IT.
	Error = sqldb.Error
	// Opening describes what had to be settled when the ledger was opened.
	Opening = recovery.Opening
	// RebuildPlan is what a rebuild would do, or did.
	RebuildPlan = recovery.RebuildPlan
	// Retention states how long each kind of data is kept.
	Retention = retention.Retention
	// RetentionPlan is what retention removes.
	RetentionPlan = retention.Plan
	// Retained is what retention removes of one kind of data.
	Retained = retention.Retained
)

// The values of Options.Driver.
const (
	SQLite   = sqldb.SQLite
	Postgres = sqldb.Postgres
)

// The codes of an Error on which callers act. Package sqldb has all codes.
const (
	CodeConfig     = sqldb.CodeConfig
	CodeEmptied    = sqldb.CodeEmptied
	CodeLocked     = sqldb.CodeLocked
	CodeOlder      = sqldb.CodeOlder
	CodeRolledBack = sqldb.CodeRolledBack
)

// The kinds of data that retention removes, and the names of its acts in the audit.
const (
	KeptBodies  = retention.KeptBodies
	KeptRuns    = retention.KeptRuns
	KeptLookups = retention.KeptLookups
	KeptInbox   = retention.KeptInbox
	KeptAudit   = retention.KeptAudit

	ActRetention = audit.ActRetention
	ActPurge     = audit.ActPurge

	// ServiceBeat is how often a `run` renews its heartbeat.
	ServiceBeat = people.ServiceBeat
)

// Errors that callers compare with, and other names that they need.
var (
	ErrNotFound       = sqldb.ErrNotFound
	ErrNoLedger       = sqldb.ErrNoLedger
	ErrClosingDamaged = readmodel.ErrClosingDamaged
	RetentionKinds    = retention.RetentionKinds
	Self              = sqldb.Self
	// ChangesOf returns what importing a list of codes would change.
	ChangesOf = refs.ChangesOf
)
