package sqldb

import (
	"context"
	"sync/atomic"

	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/state/journal"
)

// DB is the database of a ledger: its connections, and what every transaction needs to know. Its
// methods may be called by several goroutines at once; its fields are set while the ledger is
// opened, and read after that.
type DB struct {
	D        Dialect
	Tune     Tuning
	Write    *sqlx.DB   // SQLite: exactly one connection; PostgreSQL: the pool
	Read     *sqlx.DB   // SQLite: a pool that cannot write; PostgreSQL and in memory: the same as Write
	ID       string     // of the ledger
	MarkedBy string     // this DB in tx_mark: two in one process must not share a line
	kept     statements // of Write
	Slots    chan int   // lines of tx_mark that no transaction uses
	ReadOnly bool
	Memory   bool
	Where    string // the file, or host and database: for people, without secrets
	Begun    bool   // the ledger was begun by this DB
	Identity string // the id of a ledger that is made anew from its journal; "" for one of its own

	Journal     *journal.Journal // nil: none is open
	JournalPath string           // its folder
	Served      bool             // the ledger has a journal, so that it must not be sent from without it
	// SettleCrash stores what a process left that ended between journal and ledger.
	SettleCrash func(ctx context.Context, op string, slot int) error

	Part atomic.Int64 // of the sums that this process writes: see ledger.Beat

	unhurried func() (*sqlx.DB, error) // connections whose statements may take as long as they need; nil: all may
	server    Server                   // who PostgreSQL is
}
