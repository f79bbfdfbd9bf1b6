package sqldb

import (
	"database/sql/driver"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
)

// The values of OpenOptions.Driver, which are those of `state.driver` in the configuration.
const (
	SQLite   = "sqlite"
	Postgres = "postgres"
)

// OpenOptions state which ledger to open, and how.
type OpenOptions struct {
	Driver   string // SQLite or Postgres
	DSN      string // SQLite: the file's path. PostgreSQL: the data source name; a secret, never printed
	ReadOnly bool   // nothing is created, migrated or written; an absent ledger is ErrNoLedger
	Verify   bool   // SQLite: checks the whole file for damage before it is used (F049)
	// creates the ledger if there is none; without it an absent ledger is an *Error with CodeAbsent
	Begin   bool
	Version string // of this program, for the ledger's record of its creator
	// Journal is the folder of the journals, or "" for none. A ledger that is opened for writing is
	// compared with its journal in the subfolder <ledger id>, and refused if it was rolled back,
	// emptied or copied. Read-only access does not touch the journal.
	Journal string

	// Witness is the folder or the data source name of PostgreSQL in which the position of the journal
	// is kept, off the machine; "" for none. With a password it is a secret, never printed.
	Witness string

	// Zone is the zone of the ERP, in which the views for people show times. nil keeps the stored
	// one.
	Zone *time.Location

	Identity string // see Store.identity
	// allows a ledger to be opened for writing that is being moved, or was: see copy.go
	Moving bool
	CopyOf string // the place of the ledger of which an unfinished copy is opened; "" = none
	// allows a ledger to be opened for writing on an unconfirmed server: see cluster.go
	Mending bool

	// what tests put in front of the database; nil: nothing
	Through func(driver.Connector) driver.Connector `json:"-"`
	Tune    *Tuning                                 `json:"-"` // nil: DefaultTuning
}

// Tuning returns the limits and functions with which the ledger is opened.
func (o OpenOptions) Tuning() Tuning {
	tune := DefaultTuning
	if o.Tune != nil {
		tune = *o.Tune
	}
	if o.Through != nil {
		tune.Through = o.Through
	}
	return tune
}

// Tuning holds the time limits that tests shorten, and the functions of the system that they
// replace.
type Tuning struct {
	Busy  time.Duration // how long SQLite waits for another writer (F046)
	Write time.Duration // limit of a whole write transaction
	// limit of finding out whether an uncertain commit took effect
	Settle time.Duration
	Lease  time.Duration // how long a lease lasts
	// how long an answer of PostgreSQL may fail to come before the server is asked whether it lives
	Quiet time.Duration
	// after so long without an answer a connection to PostgreSQL is dead, also if the server lives
	Patience time.Duration
	// how many rows a text selects by their ids; of twenty times as many sums are counted unasked
	Few     int
	Names   int                             // how many texts of a column are read to look for a part in them
	Check   time.Duration                   // how long Health looks for damage in a SQLite file
	FsMagic func(path string) (int64, bool) // the file system's type
	Machine func() string                   // the host's machine id
	Free    func(path string) (uint64, bool)
	Through func(driver.Connector) driver.Connector // nil: connect directly
}

// DefaultTuning is what every program except a test opens a ledger with.
var DefaultTuning = Tuning{
	Busy:   5 * time.Second,
	Write:  30 * time.Second,
	Settle: 15 * time.Second,
	Lease:  30 * time.Second,
	Quiet:  5 * time.Second,
	// longer than the server's own limit for a statement
	Patience: statementTimeout + 10*time.Second,
	Few:      5000,
	Names:    100_000,
	Check:    quickCheckTime,
	FsMagic:  fileSystemType,
	Machine:  machineID,
	Free:     FreeBytes,
}

// MayBegin refuses to create a ledger where none was found, unless that was requested: a disk that
// is not mounted, or a wrong state.dsn, looks like a new ledger, from which everything would be
// sent a second time.
func (o OpenOptions) MayBegin(where, found string) error {
	if o.Identity != "" { // it is rebuilt from its journal
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
	return Refuse(CodeAbsent, where, phrase.Errorf("%w: %w", ErrNoLedger, phrase.Fixed(found)),
		phrase.New("nothing is sent; mount its disk if that is not mounted, or correct state.dsn; one that was lost comes back by `safrasync restore FILE` or `safrasync rebuild`; "+
			"only where none ever was, at the first set-up, begin it with `safrasync state new`"))
}

// quickCheckTime is the time limit of the check for damage, which runs before each start of the
// service. `safrasync doctor` reads everything.
const quickCheckTime = 5 * time.Second
