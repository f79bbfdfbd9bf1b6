package state

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/safrasync/safrasync/internal/failpoint"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/books"
	"github.com/safrasync/safrasync/state/inbox"
	"github.com/safrasync/safrasync/state/sqldb"
)

// Store is a ledger. Its methods may be called by several goroutines at once.
type Store struct {
	*books.Books
	*inbox.Box
	db      *sqldb.DB
	opening Opening
	moving  bool // the ledger is opened to be moved
	witness *watch
	options sqldb.OpenOptions // with which it was opened
}

func newStore(db *sqldb.DB) *Store { return &Store{Books: books.New(db), Box: inbox.New(db), db: db} }

// Open opens the ledger and applies missing migrations, unless it is ReadOnly. It refuses a
// database whose commits would not be durable: see doc.go, "What it guarantees". Errors are of type
// *Error and state what to do.
func Open(ctx context.Context, o sqldb.OpenOptions) (s *Store, err error) {
	var db *sqldb.DB
	switch o.Driver {
	case sqldb.SQLite:
		db, err = sqldb.OpenSQLite(ctx, o, o.Tuning())
	case sqldb.Postgres:
		db, err = sqldb.OpenPostgres(ctx, o, o.Tuning())
	default:
		return nil, &sqldb.Error{
			Code: sqldb.CodeConfig, Hint: phrase.New("set state.driver to sqlite or postgres"),
			Err: phrase.Errorf("there is no ledger driver %q", o.Driver),
		}
	}
	if err != nil {
		return nil, err
	}
	s = newStore(db)
	s.options = o
	s.db.Journals = o.Journal
	s.db.SettleCrash, s.db.Sign = s.CatchUp, s.sign
	if err = s.begin(ctx, o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// OpenMemory creates an empty ledger in memory, for dry runs and tests. It is gone after Close.
func OpenMemory(ctx context.Context) (*Store, error) {
	return openMemory(ctx, sqldb.DefaultTuning)
}

// begin checks the schema and migrates it, reads the ledger's identity, and runs the checks of
// opening.
func (s *Store) begin(ctx context.Context, o sqldb.OpenOptions) error {
	if err := s.db.Migrate(ctx, o); err != nil {
		return err
	}
	if o.Verify {
		if err := s.verify(ctx); err != nil {
			return err
		}
	}
	if !s.db.ReadOnly {
		if err := s.identify(ctx, o); err != nil {
			return err
		}
	}
	if err := failpoint.Hit("ledger.identified"); err != nil {
		return err
	}
	var row struct {
		ID   string
		From string
	}
	err := s.db.Get(ctx, "opening the ledger", &row, `SELECT id, COALESCE(moved_from, '') AS "from" FROM ledger`)
	s.db.ID = row.ID
	if of, half := strings.CutPrefix(row.From, sqldb.Unfinished); half && of != o.CopyOf {
		return s.db.Refuse(sqldb.CodeAbsent,
			phrase.Errorf("a copy of %s was begun there and is not finished", of),
			phrase.New("set state.driver and state.dsn to the old place, and run `safrasync state copy` once more, which goes on"))
	}
	if errors.Is(err, sql.ErrNoRows) {
		var entries int
		if err := s.db.Get(ctx, "opening the ledger", &entries, `SELECT COUNT(*) FROM entry`); err != nil {
			return err
		}
		if entries == 0 {
			return o.MayBegin(s.db.Where, "its tables are there, but it was never begun")
		}
		return s.db.Refuse(sqldb.CodeForeign, errors.New("the ledger has lost its own identity"),
			phrase.New("restore the backup"))
	}
	if err != nil {
		return s.db.Fault(ctx, "opening the ledger", err)
	}
	if s.db.ReadOnly || s.db.Memory {
		return nil
	}
	if err := s.db.KnowServer(ctx, o); err != nil {
		return err
	}
	if !o.Moving {
		if err := s.db.Peek(ctx, "opening the ledger", mayWork); err != nil {
			return err
		}
	}
	if !o.Moving && !o.Mending {
		if err := s.storeZone(ctx, o.Zone); err != nil {
			return err
		}
	}
	if o.Journal != "" {
		return s.attach(ctx, o)
	}
	err = s.db.Get(ctx, "opening the ledger", &s.db.Served,
		`SELECT COUNT(*) > 0 FROM journal WHERE retired_at IS NULL`)
	return err
}

// identify gives a new ledger its id, and removes the marks of transactions that are older than a
// day: nobody looks them up any more. On a ledger in use it writes nothing.
func (s *Store) identify(ctx context.Context, o sqldb.OpenOptions) error {
	const day = 24 * 60 * 60 * 1000
	var known, stale int
	if err := s.db.Write.GetContext(ctx, &known, `SELECT COUNT(*) FROM ledger`); err != nil {
		return s.db.Fault(ctx, "opening the ledger", err)
	}
	if err := s.db.Write.GetContext(ctx, &stale, s.db.Q(`SELECT COUNT(*) FROM tx_mark WHERE at < `+s.db.D.Now+` - ?`),
		day); err != nil {
		return s.db.Fault(ctx, "opening the ledger", err)
	}
	if known == 1 && stale == 0 {
		return nil
	}
	id := s.db.Identity
	if known == 0 && id == "" && !o.Begin {
		return nil // begin reports the reason
	}
	if known == 0 && id == "" {
		if err := o.MayBegin(s.db.Where, "its tables are there, but it was never begun"); err != nil {
			return err
		}
		id = sqldb.NewID()
	}
	return s.db.InTx(ctx, "opening the ledger", func(t *sqldb.Tx) error {
		if err := t.Do(`DELETE FROM tx_mark WHERE at < `+s.db.D.Now+` - ?`, day); err != nil {
			return err
		}
		n, err := t.Changed(`INSERT INTO ledger (one, id, created_at, program, refs_version) VALUES (1, ?, `+s.db.D.Now+
			`, ?, '') ON CONFLICT DO NOTHING`,
			id, o.Version)
		s.db.Begun = n == 1
		return err
	})
}

// LedgerID returns the id that the ledger got when it was created. A copy has the same id.
func (s *Store) LedgerID() string { return s.db.ID }

// Close releases the ledger. It does not release leases.
func (s *Store) Close() error {
	var err error
	if s.witness != nil { // it writes the last line while the ledger can still be asked
		err = s.witness.writer.Close()
	}
	err = errors.Join(err, s.db.Close())
	if s.db.Journal != nil {
		err = errors.Join(err, s.db.Journal.Close())
	}
	if err != nil {
		return phrase.Errorf("closing the ledger: %w", err)
	}
	return nil
}

// Moment returns the ledger as it is now, for reading: whatever is read from it is of one moment,
// and sends nobody away. It lasts half an hour at most, and must be closed.
func (s *Store) Moment(ctx context.Context) (*Store, error) {
	db, err := s.db.Moment(ctx, "reading the ledger at one moment")
	if err != nil {
		return nil, err
	}
	return newStore(db), nil
}

func openMemory(ctx context.Context, tune sqldb.Tuning) (*Store, error) {
	s := newStore(sqldb.MemoryDB(tune))
	if err := s.begin(ctx, sqldb.OpenOptions{Driver: sqldb.SQLite, Version: "in memory", Begin: true}); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// New creates the ledger that the options name, with its journal. It refuses if a ledger already
// exists there, or if a journal records that one existed.
func New(ctx context.Context, o sqldb.OpenOptions) (*Store, error) {
	look := o
	look.ReadOnly, look.Begin, look.Journal = true, true, ""
	s, err := Open(ctx, look)
	var known *sqldb.Error
	switch {
	case err == nil:
		return nil, errors.Join(standing(s.db.Where), s.Close())
	case errors.As(err, &known) && known.Code == sqldb.CodeOlder:
		return nil, standing(known.Path)
	case !errors.Is(err, sqldb.ErrNoLedger):
		return nil, err
	}
	o.ReadOnly, o.Begin = false, true
	s, err = Open(ctx, o)
	if err != nil {
		return nil, err
	}
	if !s.db.Begun { // another process created it first
		return nil, errors.Join(standing(s.db.Where), s.Close())
	}
	return s, nil
}

// Where returns the path of the ledger's file, or its host and database, for display.
func (s *Store) Where() string { return s.db.Where }

// JournalFolder returns the folder of the ledger's journal, or "" if none is open.
func (s *Store) JournalFolder() string { return s.db.JournalPath }

func standing(where string) error {
	return sqldb.Refuse(sqldb.CodeStands, where,
		errors.New("a ledger stands there already; nothing was changed"),
		phrase.New("use it, or name another place in state.dsn"))
}

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
