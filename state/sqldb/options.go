package sqldb

import (
	"database/sql/driver"
	"fmt"
	"time"
)

// The drivers that Options.Driver names, as `state.driver` of the configuration does.
const (
	SQLite   = "sqlite"
	Postgres = "postgres"
)

// Options say which ledger to open.
type Options struct {
	Driver   string // SQLite or Postgres
	DSN      string // SQLite: the file's path. PostgreSQL: the data source name; a secret, never printed
	ReadOnly bool   // nothing is created, migrated or written; a ledger that is not there gives ErrNoLedger
	Verify   bool   // SQLite: check the whole file for damage before it is used (F049)
	Begin    bool   // makes the ledger where there is none; without it that is an *Error with CodeAbsent
	Version  string // of this program, for the ledger's own record of who made it
	// Journal is the folder of the journals, "" for none. A ledger that is opened for writing is
	// compared with its journal in the folder <ledger id> below it, and refused when it was rolled
	// back, emptied or copied. It is not touched when the ledger is only read.
	Journal string

	// Zone is that of the ERP: the views for people show times in it. nil: as the ledger has it.
	Zone *time.Location

	Identity string // see Store.identity
	Moving   bool   // a ledger that is being moved, or was, may be opened for writing: see copy.go
	Mending  bool   // a ledger on a server that nobody has confirmed may be opened for writing: see cluster.go

	Through func(driver.Connector) driver.Connector `json:"-"` // what tests put before the database; nil: nothing
}

// Tuning holds the times that tests shorten, and what they put between us and the machine.
type Tuning struct {
	Busy       time.Duration                   // how long SQLite waits for another writer (F046)
	Write      time.Duration                   // a whole write transaction
	Settle     time.Duration                   // finding out what an uncertain commit did
	Lease      time.Duration                   // how long a lease lasts
	Check      time.Duration                   // how long Health looks for damage in a SQLite file
	FsMagic    func(path string) (int64, bool) // the file system's type
	Machine    func() string                   // the host's machine id
	RunFolders func() []string                 // where notes of the wire may stand
	Free       func(path string) (uint64, bool)
	Through    func(driver.Connector) driver.Connector // nil: to the database as it is
}

// DefaultTuning is what every program but a test opens a ledger with.
var DefaultTuning = Tuning{
	Busy:       5 * time.Second,
	Write:      30 * time.Second,
	Settle:     15 * time.Second,
	Lease:      30 * time.Second,
	Check:      quickCheckTime,
	FsMagic:    fileSystemType,
	Machine:    machineID,
	RunFolders: RunFolders,
	Free:       FreeBytes,
}

// MayBegin refuses to make a ledger where none was found, unless that was asked for: a disk that is
// not mounted and a wrong state.dsn look like a new ledger, from which everything would be sent a
// second time.
func (o Options) MayBegin(where, found string) error {
	if o.Identity != "" { // it is made anew from its journal
		return nil
	}
	if !o.ReadOnly {
		if err := RefuseForgotten(o.Journal, where); err != nil {
			return err
		}
		if o.Begin {
			return nil
		}
	}
	return &Error{
		Code: CodeAbsent, Path: where, Err: fmt.Errorf("%w: %s", ErrNoLedger, found),
		Hint: "nothing is sent; mount its disk if that is not mounted, or correct state.dsn; one that was lost comes back by `safrasync restore FILE` or `safrasync rebuild`; " +
			"only where none ever was, at the first set-up, begin it with `safrasync state new`",
	}
}

// quickCheckTime is how long a check may look for damage: it stands before each start of the
// service. What `safrasync doctor` reads is everything.
const quickCheckTime = 5 * time.Second
