package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/internal/failpoint"
	"github.com/safrasync/safrasync/state/journal"
)

// Store is a ledger. All its methods may be called by several goroutines at once.
type Store struct {
	d        dialect
	tune     tuning
	write    *sqlx.DB     // SQLite: exactly one connection; PostgreSQL: the pool
	read     *sqlx.DB     // SQLite: a pool that cannot write; PostgreSQL and in memory: the same as write
	id       string       // of the ledger
	markedBy string       // this Store in tx_mark: two in one process must not share a line
	slots    chan int     // lines of tx_mark that no transaction uses
	part     atomic.Int64 // of the sums that this Store writes: see instance.go
	readOnly bool
	memory   bool
	where    string // the file, or host and database: for people, without secrets

	unhurried func() (*sqlx.DB, error) // connections whose statements may take as long as they need; nil: all may

	journal     *journal.Journal // nil: none is open
	journalPath string           // its folder
	served      bool             // the ledger has a journal, so that it must not be sent from without it
	opening     Opening
	begun       bool // by this Store
	shortages   atomic.Pointer[knownShortages]
	wire        wire                                                 // notes of requests on the wire
	server      server                                               // who PostgreSQL is
	unconfirmed bool                                                 // the server may be another than the ledger knows: nothing is sent, only compared and confirmed
	settleCrash func(ctx context.Context, op string, slot int) error // stores what a process left that ended between journal and ledger
	identity    string                                               // the id of a ledger that is made anew from its journal; "" for one of its own
}

// Open opens the ledger, applies the migrations that it lacks (except ReadOnly) and refuses one that would not keep what it says it
// stored: see doc.go, durability. The errors are of type *Error and say what to do.
func Open(ctx context.Context, o Options) (*Store, error) { return open(ctx, o, defaultTuning) }

// OpenMemory makes an empty ledger in memory, for dry runs and tests. It is gone after Close.
func OpenMemory(ctx context.Context) (*Store, error) {
	return openMemory(ctx, defaultTuning)
}

func open(ctx context.Context, o Options, tune tuning) (s *Store, err error) {
	switch o.Driver {
	case SQLite:
		s, err = openSQLite(ctx, o, tune)
	case Postgres:
		s, err = openPostgres(ctx, o, tune)
	default:
		return nil, &Error{Code: CodeConfig, Hint: "set state.driver to sqlite or postgres", Err: fmt.Errorf("there is no ledger driver %q", o.Driver)}
	}
	if err != nil {
		return nil, err
	}
	s.settleCrash = s.catchUp
	if err = s.begin(ctx, o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// begin checks the schema, brings it up to date and reads what the ledger is.
func (s *Store) begin(ctx context.Context, o Options) error {
	if err := s.migrate(ctx, o); err != nil {
		return err
	}
	if o.Verify {
		if err := s.Verify(ctx); err != nil {
			return err
		}
	}
	if !s.readOnly {
		if err := s.identify(ctx, o); err != nil {
			return err
		}
	}
	if err := failpoint.Hit("ledger.identified"); err != nil {
		return err
	}
	err := s.read.GetContext(ctx, &s.id, `SELECT id FROM ledger`)
	if errors.Is(err, sql.ErrNoRows) {
		var entries int
		if err := s.read.GetContext(ctx, &entries, `SELECT COUNT(*) FROM entry`); err != nil {
			return s.fault(ctx, "opening the ledger", err)
		}
		if entries == 0 {
			return o.mayBegin(s.where, "its tables are there, but it was never begun")
		}
		return &Error{Code: CodeForeign, Path: s.where, Hint: "restore the backup", Err: errors.New("the ledger has lost its own identity")}
	}
	if err != nil {
		return s.fault(ctx, "opening the ledger", err)
	}
	if s.readOnly || s.memory {
		return nil
	}
	if err := s.knowServer(ctx, o.mending); err != nil {
		return err
	}
	if !o.moving {
		if err := s.peek(ctx, "opening the ledger", (*tx).mayWork); err != nil {
			return err
		}
	}
	if !o.moving && !o.mending {
		if err := s.keepZone(ctx, o.Zone); err != nil {
			return err
		}
	}
	if o.Journal != "" {
		return s.attach(ctx, o)
	}
	err = s.read.GetContext(ctx, &s.served, `SELECT COUNT(*) > 0 FROM journal WHERE retired_at IS NULL`)
	return s.fault(ctx, "opening the ledger", err)
}

// identify gives a new ledger its id, and clears the marks of transactions that nobody asks about any more. On a ledger in use it writes nothing.
func (s *Store) identify(ctx context.Context, o Options) error {
	const day = 24 * 60 * 60 * 1000
	var known, stale int
	if err := s.write.GetContext(ctx, &known, `SELECT COUNT(*) FROM ledger`); err != nil {
		return s.fault(ctx, "opening the ledger", err)
	}
	if err := s.write.GetContext(ctx, &stale, s.q(`SELECT COUNT(*) FROM tx_mark WHERE at < `+s.d.now+` - ?`), day); err != nil {
		return s.fault(ctx, "opening the ledger", err)
	}
	if known == 1 && stale == 0 {
		return nil
	}
	id := s.identity
	if known == 0 && id == "" && !o.Begin {
		return nil // begin says what is the matter
	}
	if known == 0 && id == "" {
		if err := o.mayBegin(s.where, "its tables are there, but it was never begun"); err != nil {
			return err
		}
		id = newID()
	}
	return s.inTx(ctx, "opening the ledger", func(t *tx) error {
		if err := t.exec(`DELETE FROM tx_mark WHERE at < `+s.d.now+` - ?`, day); err != nil {
			return err
		}
		n, err := t.changed(`INSERT INTO ledger (one, id, created_at, program, refs_version) VALUES (1, ?, `+s.d.now+`, ?, '') ON CONFLICT DO NOTHING`,
			id, o.Version)
		s.begun = n == 1
		return err
	})
}

// LedgerID is the ledger's own id, given when it was made. A copy has the same.
func (s *Store) LedgerID() string { return s.id }

// Close releases the ledger. Leases are not given back.
func (s *Store) Close() error {
	err := errors.Join(s.closePools(), s.closeWire())
	if s.journal != nil {
		err = errors.Join(err, s.journal.Close())
	}
	if err != nil {
		return fmt.Errorf("closing the ledger: %w", err)
	}
	return nil
}

func openMemory(ctx context.Context, tune tuning) (*Store, error) {
	s := memoryDB(tune)
	if err := s.begin(ctx, Options{Driver: SQLite, Version: "in memory", Begin: true}); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}
